import 'reflect-metadata/lite';
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { create, fromBinary } from '@bufbuild/protobuf';
import { newRunId, type ProductionId } from '@methods/base/ids';
import { HeldHeartbeatsSchema } from '@methods/proto/event/v1/event_pb';
import { PeerItemSchema } from '@methods/proto/peer/v1/peer_service_pb';
import { ManualClock } from '../manual-clock.fixture.ts';
import type { PeerItemInit, PeerSender } from '../wire/peer-link.ts';
import { NodeRoutes } from './node-routes.ts';
import { PeerRouter } from './peer-router.ts';

type Call = readonly [part: string, method: ProductionId, ...args: unknown[]];

/** The messages that a router passes on, in its order. */
const ROUTED = [
  'commands',
  'interests',
  'waiters',
  'claims',
  'keeper',
  'owners',
  'reports',
  'sessions',
  'starts',
].concat(['recovery', 'peers']);

/** Parts of a node that record their calls and reply as a test configures. */
class Parts {
  readonly calls: Call[] = [];
  readonly answers = new Map<string, unknown>();

  get all(): Readonly<Record<string, never>> {
    return new Proxy({}, { get: (_, part: string) => (part === 'peers' ? this.peers : this.part(part)) });
  }

  router(): PeerRouter {
    const named = ROUTED.map((part) => (part === 'peers' ? this.peers : this.part(part)));
    return new PeerRouter(...(named as never as ConstructorParameters<typeof PeerRouter>));
  }

  constructor(readonly peers: PeerSender) {}

  private part(part: string): object {
    return new Proxy(
      {},
      {
        get:
          (_, method: ProductionId) =>
          (...args: unknown[]) => {
            this.calls.push([part, method, ...args]);
            return this.answers.get(method);
          },
      },
    );
  }
}

const KEY = { orgId: 'org_a' as const, method: 'wf_a' as const };
const runId = newRunId(1);
const grant = { runId, token: 't', method: 'wf_a' as const, orgId: 'org_a' as const, epoch: 5, inputsJson: '{}' };
const delivered = { nodeId: 'x', creditId: 3, workerSession: 'org_a.w.1', shard: 1, orgId: 'org_a' as const, grant };
const offer = { key: KEY, workerSession: 'org_a.w.1', creditId: 3, features: [] };
const notice = { workerSession: 'org_a.w.1', runId, token: 't' };

describe('messages to a node', () => {
  let here: Parts;
  let there: Parts;
  let routes: NodeRoutes;
  let clock: ManualClock;
  let linked: boolean;
  let published: Uint8Array[] | null;

  beforeEach(() => {
    clock = new ManualClock();
    linked = true;
    published = null;
    const routers = new Map<string, PeerRouter>();
    // Passes each item to the other side through its encoding.
    const link = (from: string, to: string): PeerSender => ({
      send(nodeId, item: PeerItemInit) {
        if (!linked || nodeId !== to) return false;
        routers.get(to)?.received(from, create(PeerItemSchema, item), () => {});
        return true;
      },
      request: () => Promise.reject(new Error('no link')),
      connected: () => [to],
    });
    here = new Parts(link('here', 'there'));
    there = new Parts(link('there', 'here'));
    routers.set('here', here.router());
    routers.set('there', there.router());
    for (const parts of [here, there]) {
      parts.answers.set('claim', Promise.resolve(true));
      parts.answers.set('deliver', true);
    }
    routes = new NodeRoutes({
      nodeId: 'here',
      clock,
      peers: here.peers,
      local: () => here.all as never,
      epochOf: () => 5,
      publishHeartbeats: async (_to, body) => {
        published?.push(body);
        return published !== null;
      },
    });
  });

  for (const [what, say] of [
    ['the head of a queue', (to: string) => routes.tellHead(to, KEY, { depth: 2, queuedAtMs: 7, runId })],
    ['that a queue is empty', (to: string) => routes.tellHead(to, KEY, null)],
    ['an offered place', (to: string) => routes.offerClaim(to, offer)],
    ['a cancel notice', (to: string) => routes.cancelNotice(to, notice)],
    ['a refusal', (to: string) => routes.refuse(to, runId, 't')],
    ['heartbeats', (to: string) => routes.heartbeats(to, [{ runId, token: 't', ageMs: 12 }])],
    ['a grant', (to: string) => routes.deliverGrant({ ...delivered, nodeId: to })],
  ] as const) {
    test(`${what} comes to the same part of this node and of another one`, async () => {
      say('here');
      say('there');
      await new Promise(setImmediate);
      assert.equal(there.calls.length, 1);
      // Only the sender's name differs: it replaces the own one.
      assert.deepEqual(plain(there.calls), plain(here.calls.slice(0, 1)));
    });
  }

  /** Returns messages as plain objects, without fields that the encoding adds. */
  function plain(calls: readonly Call[]): unknown {
    const text = JSON.stringify(calls, (name, value) => (name.startsWith('$') ? undefined : value));
    const bare = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(bare);
      if (typeof value !== 'object' || value === null) return value;
      const set = Object.entries(value).filter(([, v]) => v !== '' && v !== 0 && !(Array.isArray(v) && v.length === 0));
      return Object.fromEntries(set.map(([name, v]) => [name, bare(v)]));
    };
    return bare(JSON.parse(text.replaceAll('"there"', '"here"')));
  }

  for (const kind of ['accepted', 'stepRecord', 'ask', 'sleep', 'finish', 'giveBack'] as const) {
    test(`a worker's report of the kind ${kind} comes to its owner`, async () => {
      here.answers.set('handle', Promise.resolve(null));
      const item = { item: { case: kind, value: { runId, token: 't', seq: 1 } } } as never;
      const value = { workerSession: 'org_a.w.1', orgId: 'org_a' as const, item };
      there.peers.send('here', { item: { case: 'report', value } });
      await new Promise(setImmediate);
      assert.deepEqual(
        here.calls.map(([part, method, from]) => [part, method, from]),
        [['reports', 'handle', { nodeId: 'there', session: 'org_a.w.1', orgId: 'org_a' }]],
      );
    });
  }

  test('a place that another node had no run for is returned', async () => {
    there.answers.set('claim', Promise.resolve(false));
    routes.offerClaim('there', offer);
    await new Promise(setImmediate);
    assert.deepEqual(here.calls, [['waiters', 'emptyHanded', 3]]);
  });

  test('a place is free again if this node had no run for it, or failed to look for one', async () => {
    here.answers.set('claim', Promise.resolve(false));
    routes.offerClaim('here', offer);
    await new Promise(setImmediate);
    here.answers.set('claim', Promise.reject(new Error('no database')));
    routes.offerClaim('here', offer);
    await new Promise(setImmediate);
    assert.deepEqual(
      here.calls.map(([, method]) => method),
      ['claim', 'emptyHanded', 'claim', 'returned'],
    );
  });

  test('a grant that reaches no worker at another node is reported as lost', () => {
    there.answers.set('deliver', false);
    assert.equal(routes.deliverGrant({ ...delivered, nodeId: 'there' }), true);
    assert.deepEqual(there.calls.at(-1), ['owners', 'grantLost', 'here', runId, 't']);
  });

  test('without a link an offer and a grant are known not to arrive', () => {
    linked = false;
    assert.equal(routes.offerClaim('there', offer), false);
    assert.equal(routes.deliverGrant({ ...delivered, nodeId: 'there' }), false);
  });

  test('heartbeats use the bus while it is available', async () => {
    published = [];
    await routes.heartbeats('there', [{ runId, token: 't', ageMs: 12 }]);
    assert.equal(there.calls.length, 0);
    const [body] = published;
    assert.ok(body);
    const { fromNode, runs } = fromBinary(HeldHeartbeatsSchema, body);
    assert.deepEqual([fromNode, runs[0]?.ageMs], ['here', 12]);
  });

  test('heartbeats that the bus did not take are older by the time they waited for it', async () => {
    const sent = routes.heartbeats('there', [{ runId, token: 't', ageMs: 12 }]);
    clock.forward(30);
    assert.equal(await sent, true);
    assert.deepEqual(plain(there.calls), [['keeper', 'heartbeats', 'here', [{ runId, token: 't', ageMs: 42 }]]]);
  });
});
