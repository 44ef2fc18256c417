import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { newRunId, type RunId } from '@methods/base/ids';
import { ManualClock } from '../manual-clock.fixture.ts';
import { type HeartbeatRun, HeartbeatSender } from './heartbeat-sender.ts';
import { HeldGrants } from './held-grants.ts';

const LEASE_MS = 60_000;

describe('heartbeats from node to node', () => {
  let clock: ManualClock;
  let held: HeldGrants;
  let members: string[];
  let sent: { to: string; runs: readonly HeartbeatRun[] }[];
  let sender: HeartbeatSender;
  let deaf: Set<string>;

  beforeEach(() => {
    clock = new ManualClock();
    held = new HeldGrants(clock);
    members = ['here', 'there'];
    sent = [];
    deaf = new Set();
    sender = new HeartbeatSender({
      clock,
      nodeId: 'here',
      shardCount: 4,
      leaseMs: LEASE_MS,
      held,
      shards: { owns: (shard) => shard === 0, ownerOf: (shard) => (shard === 1 ? 'there' : null) },
      members: () => members,
      send: async (to, runs) => {
        sent.push({ to, runs });
        return !deaf.has(to);
      },
    });
  });

  function hold(shard: number, token: string, accepted = true): RunId {
    const runId = newRunId(shard);
    held.add({ runId, shard, token, orgId: 'org_a', session: 'org_a.w.1' }, accepted);
    return runId;
  }

  function next(): Record<string, string[]> {
    sent.length = 0;
    sender.send();
    return Object.fromEntries(sent.map(({ to, runs }) => [to, runs.map((run) => run.token)]));
  }

  test('each owner gets its own runs, and no message without any', () => {
    hold(0, 'a');
    hold(1, 'b');
    hold(2, 'nobodys');
    assert.deepEqual(next(), { here: ['a'], there: ['b'] });
    clock.forward(1_000);
    assert.deepEqual(next(), { here: [], there: [] });
  });

  test('a message has only the signs of life since the last one, with their age, and all runs when owners may have missed some', () => {
    hold(0, 'a');
    hold(0, 'b');
    next();
    clock.forward(500);
    held.heard('b');
    clock.forward(500);
    assert.deepEqual(next().here, ['b']);
    assert.equal(sent[0]?.runs[0]?.ageMs, 500);
    sender.tellAll();
    assert.deepEqual(next().here, ['a', 'b']);
  });

  test('a node that may have missed a message gets it again, and only that node', async () => {
    hold(0, 'a');
    hold(1, 'b');
    deaf.add('there');
    next();
    await new Promise(setImmediate);
    clock.forward(1_000);
    deaf.clear();
    assert.deepEqual(next(), { here: [], there: ['b'] });
    await new Promise(setImmediate);
    clock.forward(1_000);
    assert.deepEqual(next(), { here: [], there: [] });
  });

  test('a grant that no worker has accepted does not count as a sign of life', () => {
    hold(0, 'a', false);
    assert.deepEqual(next().here, []);
    held.heard('a');
    clock.forward(1);
    held.heard('a');
    assert.deepEqual(next().here, ['a']);
  });

  test('very many runs are sent in several messages', () => {
    for (let i = 0; i < 12_001; i++) hold(0, `t${i}`);
    next();
    const toHere = sent.filter(({ to }) => to === 'here');
    assert.deepEqual(
      toHere.map(({ runs }) => runs.length),
      [5_000, 5_000, 2_001],
    );
  });

  test('this node keeps the leases of its own runs while no member is known', () => {
    members = [];
    hold(0, 'a');
    assert.deepEqual(next(), { here: ['a'] });
  });

  test('a run whose worker was silent for four leases is forgotten', () => {
    hold(0, 'a');
    clock.forward(4 * LEASE_MS);
    next();
    assert.equal(held.size, 1);
    clock.forward(1);
    next();
    assert.equal(held.size, 0);
  });
});
