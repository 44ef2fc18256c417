import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { newRunId, type OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { type PeerItem, PeerItemSchema } from '@methods/proto/peer/v1/peer_service_pb';
import { ManualClock } from '../manual-clock.fixture.ts';
import type { PeerItemInit } from '../wire/peer-link.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import { OwnerLink } from './owner-link.ts';
import type { ReportItem, ReportOutcome, WorkerReports } from './worker-reports.ts';

const FROM = { session: 'org_a.w.1', orgId: 'org_a' as const };
const runId = newRunId(1);
const ack: ReportOutcome = { case: 'ack', value: { runId, seq: 1, token: 't' } };

describe("a worker's reports on their way to the owner", () => {
  let clock: ManualClock;
  let owner: string | null;
  /** The owner's replies, in turn: null is no reply, an error a broken link. */
  let replies: (ReportOutcome | null | Error)[];
  let asked: string[];
  let sent: { to: string; item: PeerItemInit['item'] }[];
  let heartbeats: string[];
  let done: ReportOutcome[];
  let link: OwnerLink;

  beforeEach(() => {
    clock = new ManualClock();
    owner = 'here';
    [replies, asked, sent, heartbeats, done] = [[], [], [], [], []];
    const next = async (from: string) => {
      asked.push(from);
      const reply = replies.shift() ?? null;
      if (reply instanceof Error) throw reply;
      return reply;
    };
    const keeper: Pick<LeaseKeeper, 'workerSeen' | 'heartbeats'> = {
      workerSeen: (_nodeId, { session }) => heartbeats.push(`seen ${session}`),
      heartbeats: (from) => heartbeats.push(`from ${from}`),
    };
    link = new OwnerLink({
      nodeId: 'here',
      shardCount: 4,
      shards: { owns: () => owner === 'here', ownerOf: () => owner },
      peers: {
        send: (to, { item }) => sent.push({ to, item }) > 0,
        connected: () => ['there', 'elsewhere'],
        async request(to): Promise<PeerItem> {
          const outcome = await next(to);
          return create(PeerItemSchema, {
            item: { case: 'reportReply', value: outcome === null ? {} : { outcome: outcome as typeof ack } },
          });
        },
      },
      reports: { handle: () => next('here') } as unknown as WorkerReports,
      keeper: keeper as LeaseKeeper,
      clock,
    });
  });

  function report(kind: 'finish' | 'accepted' = 'finish', resultJson = '', orgId = FROM.orgId as OrgId): void {
    const item = { case: kind, value: { runId, token: 't', seq: 1, resultJson } } as unknown as ReportItem;
    link.report({ ...FROM, orgId }, item, (outcome) => done.push(outcome));
  }

  async function passes(ms: number): Promise<void> {
    await new Promise(setImmediate);
    clock.forward(ms);
    await new Promise(setImmediate);
  }

  for (const where of ['here', 'there']) {
    test(`the outcome of a report to an owner ${where} is returned`, async () => {
      owner = where;
      replies = [ack];
      report();
      await passes(0);
      assert.deepEqual([asked, done.map((outcome) => outcome.case)], [[where], ['ack']]);
    });
  }

  test('while the shard moves, the report follows it to the next owner', async () => {
    owner = 'there';
    replies = [null, new ServiceError('unavailable'), ack];
    report();
    await passes(100);
    owner = null;
    await passes(100);
    owner = 'here';
    await passes(100);
    await passes(100);
    assert.deepEqual([asked, done.length], [['there', 'there', 'here'], 1]);
  });

  test('after three seconds the repeat is left to the worker', async () => {
    owner = null;
    report();
    for (let i = 0; i < 31; i++) await passes(100);
    owner = 'here';
    replies = [ack];
    await passes(10_000);
    assert.deepEqual([asked, done], [[], []]);
  });

  test('reports without an outcome hold a bounded memory, and leave room for other organizations', async () => {
    const large = 'x'.repeat(1 << 20);
    for (let n = 0; n < 100; n++) report('finish', large);
    assert.equal(asked.length, 63);
    report('finish', large, 'org_b');
    assert.equal(asked.length, 64);
    // None of them got an outcome: their worker repeats them.
    for (let i = 0; i < 32; i++) await passes(100);
    asked = [];
    replies = [ack];
    report('finish', large);
    await passes(0);
    assert.deepEqual([asked.length, done.length], [1, 1]);
  });

  test('the acceptance of a grant is sent once, without waiting for a reply', async () => {
    owner = 'there';
    report('accepted');
    owner = null;
    report('accepted');
    await passes(1_000);
    assert.deepEqual([sent.map(({ to, item }) => `${to} ${item?.case}`), asked], [['there report'], []]);
  });

  test('a connected worker is announced to every possible owner', () => {
    link.workerSeen({ ...FROM, held: [{ runId, token: 't' }] });
    assert.deepEqual(heartbeats, ['seen org_a.w.1']);
    assert.deepEqual(
      sent.map(({ to, item }) => `${to} ${item?.case}`),
      ['there workerSeen', 'elsewhere workerSeen'],
    );
  });

  test('a heartbeat that ends a cancelled run is sent at once, here or to its owner, and not at all without an owner', () => {
    const held = { runId, shard: 1, token: 't', orgId: 'org_a' as const, session: 's', heardAtMs: 0, accepted: true };
    for (const nodeId of ['here', 'there', null]) {
      owner = nodeId;
      link.heartbeatNow({ ...held, cancelTold: true });
    }
    assert.deepEqual(heartbeats, ['from here']);
    assert.deepEqual(
      sent.map(({ to, item }) => `${to} ${item?.case}`),
      ['there heartbeats'],
    );
  });
});
