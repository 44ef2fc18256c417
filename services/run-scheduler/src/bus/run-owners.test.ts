import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { systemClock } from '@methods/base/clock';
import { newRunId } from '@methods/base/ids';
import { createLogger } from '@methods/logging/logger';
import { RunCommandRepliesSchema, RunCommandSchema } from '@methods/proto/event/v1/event_pb';
import { type PeerItem, PeerItemSchema } from '@methods/proto/peer/v1/peer_service_pb';
import { until } from '@methods/test/harness/until';
import { TestActors } from '../actor/test-actors.fixture.ts';
import { answer, ask, cancel } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import { TestStore } from '../store/run-store.fixture.ts';
import type { PeerItemInit } from '../wire/peer-link.ts';
import { CommandConsumer } from './command-consumer.ts';
import { RunOwners } from './run-owners.ts';

const code = (expected: string) => ({ name: 'ServiceError', code: expected });

describe('a command of a person', () => {
  let db: TestStore;
  let node: TestActors;
  let consumer: CommandConsumer;
  let owners: RunOwners;
  /** Shards that this node routes elsewhere, to `node_owner`. */
  let elsewhere: Set<number>;
  /** Commands that the bus has stored; null: the bus is unavailable. */
  let mailbox: Uint8Array[] | null;
  let peer: (item: PeerItemInit) => Promise<PeerItem>;
  let asked: number;
  let acked: number;

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());

  beforeEach(async () => {
    node = await TestActors.on(db);
    elsewhere = new Set([0, 1, 2, 3]);
    mailbox = [];
    asked = 0;
    acked = 0;
    peer = async () => Promise.reject(new Error('no link'));
    consumer = new CommandConsumer({
      claims: node.actors,
      databaseNowMs: () => node.databaseClock.nowMs(),
      publishReplies: (subject, replies) => {
        assert.equal(subject, 'inbox');
        owners.received(toBinary(RunCommandRepliesSchema, create(RunCommandRepliesSchema, { replies })));
      },
      logger: createLogger({ name: 'test', level: 'silent' }),
    });
    owners = new RunOwners({
      nodeId: 'node_here',
      shardCount: 4,
      clock: systemClock,
      claims: node.actors,
      shards: {
        owns: (shard) => !elsewhere.has(shard),
        ownerOf: (shard) => (elsewhere.has(shard) ? 'node_owner' : 'node_here'),
      },
      peers: {
        send: () => false,
        request: (_nodeId, item) => {
          asked++;
          return peer(item);
        },
        connected: () => [],
      },
      bus: {
        get connected() {
          return mailbox !== null;
        },
        async publishCommand(_shard, body) {
          if (mailbox === null) throw new Error('not connected');
          mailbox.push(body);
        },
      },
      replySubject: 'inbox',
      databaseNowMs: () => node.databaseClock.nowMs(),
    });
  });

  /** The owner reads its mailbox. */
  async function deliver(body: Uint8Array | undefined): Promise<void> {
    await consumer.received(body ?? new Uint8Array(), () => acked++);
  }

  async function waiting(): Promise<Run> {
    const run = await node.running();
    const outcome = await node.tell(run, ask(run.token, 1, 'q_1', null));
    assert.ok(outcome.kind === 'accepted');
    return outcome.run;
  }

  function tell(run: Run, command: Parameters<RunOwners['tell']>[2], orgId = run.facts.orgId) {
    return owners.tell(orgId, run.facts.runId, command);
  }

  const theAnswer = answer('q_1', 'aa') as Parameters<RunOwners['tell']>[2];
  const theCancel = cancel as Parameters<RunOwners['tell']>[2];

  test('goes straight to the actor if this node owns the run', async () => {
    elsewhere.clear();
    const run = await waiting();
    assert.equal((await tell(run, theAnswer)).answerBy, 1);
    assert.equal((await db.load(run.facts.runId))?.status, 'queued');
    await assert.rejects(tell(run, theCancel, 'org_b'), code('not_found'));
  });

  test('reaches another owner over its mailbox, and the reply comes back', async () => {
    const run = await waiting();
    const told = tell(run, theAnswer);
    await until('it is in the mailbox', () => mailbox?.length === 1);
    await deliver(mailbox?.[0]);
    assert.equal((await told).runId, run.facts.runId);
    assert.equal(acked, 1);
    const answered = (await db.load(run.facts.runId))?.answer;
    assert.deepEqual([answered?.questionId, answered?.digest], ['q_1', 'aa']);
  });

  test('delivered twice counts once, and is acknowledged both times', async () => {
    const run = await waiting();
    const told = tell(run, theAnswer);
    await until('it is in the mailbox', () => mailbox?.length === 1);
    await Promise.all([deliver(mailbox?.[0]), deliver(mailbox?.[0])]);
    await told;
    assert.equal(acked, 2);
    assert.equal((await db.load(run.facts.runId))?.revision, run.revision + 1);
  });

  test('gets a refusal back unchanged', async () => {
    const run = await node.started();
    const told = tell(run, theAnswer);
    await until('it is in the mailbox', () => mailbox?.length === 1);
    await deliver(mailbox?.[0]);
    await assert.rejects(told, code('run_not_waiting'));
  });

  test('gets the same refusal for a missing run and a run of another organization', async () => {
    const run = await waiting();
    const refused = [tell(run, theCancel, 'org_b'), owners.tell('org_b', newRunId(0), theCancel)].map((told) =>
      told.then(
        () => 'done',
        (error) => `${error.code} ${error.message}`,
      ),
    );
    await until('both are in the mailbox', () => mailbox?.length === 2);
    for (const body of mailbox ?? []) await deliver(body);
    const [foreign, missing] = await Promise.all(refused);
    assert.equal(foreign, missing);
    assert.ok(foreign?.startsWith('not_found'));
    await assert.rejects(owners.tell('org_b', 'run_!', theCancel), code('not_found'));
  });

  test('is neither acknowledged nor answered by a node that may not decide it', async () => {
    const run = await waiting();
    void tell(run, theCancel).catch(() => {});
    await until('it is in the mailbox', () => mailbox?.length === 1);
    node.lose([0]);
    await deliver(mailbox?.[0]);
    assert.equal(acked, 0);
  });

  test('is acknowledged and ignored if its sender gave up long ago or it is invalid', async () => {
    const run = await waiting();
    void tell(run, theCancel).catch(() => {});
    await until('it is in the mailbox', () => mailbox?.length === 1);
    const command = fromBinary(RunCommandSchema, mailbox?.[0] ?? new Uint8Array());
    await deliver(toBinary(RunCommandSchema, { ...command, issuedAtMs: command.issuedAtMs - 60_001 }));
    await deliver(Uint8Array.of(0xff, 0xff));
    assert.equal(acked, 2);
    assert.equal((await db.load(run.facts.runId))?.status, 'waiting');
  });

  test('goes over the link to the owner while the bus is unavailable, repeatedly until one accepts it', async () => {
    const run = await waiting();
    mailbox = null;
    let refusals = 2;
    peer = async (item) => {
      if (refusals-- > 0) throw new Error('no link');
      if (item.item?.case !== 'command') throw new Error('no command');
      const reply = await consumer.decide(item.item.value);
      assert.ok(reply !== null);
      return create(PeerItemSchema, { item: { case: 'commandReply', value: reply } });
    };
    assert.equal((await tell(run, theCancel)).runId, run.facts.runId);
    assert.equal(asked, 3);
    assert.equal((await db.load(run.facts.runId))?.status, 'cancelled');
  });

  test('is decided here if the shard moves here while the bus is unavailable', async () => {
    const run = await waiting();
    mailbox = null;
    const told = tell(run, theCancel);
    await until('the other was asked', () => asked > 0);
    elsewhere.clear();
    await told;
    assert.equal((await db.load(run.facts.runId))?.status, 'cancelled');
  });

  test('goes over the link to an owner that never reads its mailbox', async () => {
    const run = await waiting();
    peer = async (item) => {
      assert.ok(item.item?.case === 'command');
      const reply = await consumer.decide(item.item.value);
      return create(PeerItemSchema, { item: { case: 'commandReply', value: reply ?? {} } });
    };
    await tell(run, theCancel);
    assert.equal(mailbox?.length, 1);
  });

  test('stops waiting at a reply of an unknown kind', async () => {
    const run = await waiting();
    const told = tell(run, theCancel);
    await until('it is in the mailbox', () => mailbox?.length === 1);
    const { commandId } = fromBinary(RunCommandSchema, mailbox?.[0] ?? new Uint8Array());
    owners.received(toBinary(RunCommandRepliesSchema, create(RunCommandRepliesSchema, { replies: [{ commandId }] })));
    await assert.rejects(told, code('unavailable'));
  });

  test('gets an error after about five seconds if there is no owner', async () => {
    const run = await waiting();
    const startedAtMs = performance.now();
    await assert.rejects(tell(run, theCancel), code('unavailable'));
    const tookMs = performance.now() - startedAtMs;
    assert.ok(tookMs >= 4_900 && tookMs < 30_000, `${tookMs} ms`);
  });
});
