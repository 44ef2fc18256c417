import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { RunId } from '@methods/base/ids';
import { ManualClock } from '../manual-clock.fixture.ts';
import { LeaseTable, streamNumberOf, workerOf } from './lease-table.ts';

const LEASE_MS = 60_000;

describe('leases of running runs', () => {
  let clock: ManualClock;
  let table: LeaseTable;
  let expired: string[];
  let unaccepted: string[];
  let standing: Set<string>;

  beforeEach(() => {
    clock = new ManualClock();
    expired = [];
    unaccepted = [];
    standing = new Set();
    table = new LeaseTable({
      clock,
      leaseMs: LEASE_MS,
      standsStill: (nodeId) => standing.has(nodeId),
      expired: (lease) => expired.push(lease.runId),
      unaccepted: (lease) => unaccepted.push(lease.runId),
    });
  });

  function add(
    runId: RunId,
    more: { nodeId?: string | null; ageMs?: number; accepted?: boolean; shard?: number } = {},
  ) {
    const lease = { runId, shard: 0, token: `token-${runId}`, session: 'worker.1', nodeId: 'n1', accepted: true };
    table.add({ ...lease, cancelAskedAtMs: null, ...more });
  }

  function after(ms: number): void {
    clock.forward(ms);
    table.sweep();
  }

  test('a lease ends only after its whole time has passed, and once', () => {
    add('run_a');
    after(LEASE_MS);
    assert.deepEqual(expired, []);
    after(1);
    after(1);
    assert.deepEqual(expired, ['run_a']);
    assert.equal(table.size, 0);
  });

  test('a heartbeat renews from the moment the worker sent it, not from its arrival', () => {
    add('run_a');
    clock.forward(50_000);
    assert.equal(table.renew('run_a', 'token-run_a', 'n1', null, 20_000), true);
    after(40_000);
    assert.deepEqual(expired, []);
    after(1);
    assert.deepEqual(expired, ['run_a']);
  });

  test('a message older than the last one renews nothing', () => {
    add('run_a');
    clock.forward(30_000);
    table.renew('run_a', 'token-run_a', 'n1', null, 0);
    table.renew('run_a', 'token-run_a', 'n1', null, 29_000);
    after(LEASE_MS);
    assert.deepEqual(expired, []);
  });

  test('another token renews and ends nothing', () => {
    add('run_a');
    assert.equal(table.renew('run_a', 'stale', 'n1', null), false);
    table.ended('run_a', 'stale');
    assert.equal(table.has('run_a'), true);
    assert.equal(table.get('run_a', 'stale'), null);
    table.ended('run_a', 'token-run_a');
    assert.equal(table.has('run_a'), false);
  });

  test('a lease is paused while the node of its worker lives but is unreachable, and then continues', () => {
    add('run_a');
    after(20_000);
    standing.add('n1');
    for (let i = 0; i < 200; i++) after(1_000);
    standing.delete('n1');
    after(40_000);
    assert.deepEqual(expired, []);
    after(1);
    assert.deepEqual(expired, ['run_a']);
  });

  test('a silent node extends no lease beyond a whole one', () => {
    add('run_a');
    standing.add('n1');
    after(2 * LEASE_MS);
    standing.delete('n1');
    after(LEASE_MS);
    assert.deepEqual(expired, []);
    after(1);
    assert.deepEqual(expired, ['run_a']);
  });

  test('a node that was itself blocked ends no lease because of that, and extends none beyond a whole one', () => {
    add('run_old', { ageMs: 50_000 });
    add('run_new');
    add('run_granted', { accepted: false });
    clock.forward(2 * LEASE_MS);
    table.stoodStill(2 * LEASE_MS);
    table.sweep();
    assert.deepEqual([expired, unaccepted], [[], []]);
    after(10_001);
    assert.deepEqual([expired, unaccepted], [['run_old'], ['run_granted']]);
    after(LEASE_MS - 10_000);
    assert.deepEqual(expired, ['run_old', 'run_new']);
  });

  test('after a take-over only the rest of the lease is granted', () => {
    add('run_a', { nodeId: null, ageMs: 45_000 });
    after(15_000);
    assert.deepEqual(expired, []);
    after(1);
    assert.deepEqual(expired, ['run_a']);
  });

  test('a grant that no worker accepts within ten seconds is returned, not expired', () => {
    add('run_a', { accepted: false });
    after(10_000);
    assert.deepEqual(unaccepted, []);
    after(1);
    assert.deepEqual([unaccepted, expired], [['run_a'], []]);
  });

  test('a grant that was accepted is not returned', () => {
    add('run_a', { accepted: false });
    table.renew('run_a', 'token-run_a', 'n1', null);
    after(10_001);
    assert.deepEqual(unaccepted, []);
  });

  test('a new grant of a run replaces the one before', () => {
    add('run_a', { ageMs: 59_000 });
    table.add({
      runId: 'run_a',
      shard: 0,
      token: 'token-2',
      session: 'other.1',
      nodeId: 'n1',
      accepted: true,
      cancelAskedAtMs: null,
    });
    after(2_000);
    assert.deepEqual(expired, []);
    assert.deepEqual(table.ofWorker('worker.2'), []);
    assert.equal(table.ofWorker('other.1').length, 1);
  });

  test('a worker on a new stream finds the runs of its earlier one', () => {
    add('run_a');
    add('run_b');
    assert.deepEqual(
      table.ofWorker('worker.7').map((lease) => lease.runId),
      ['run_a', 'run_b'],
    );
    table.renew('run_a', 'token-run_a', 'n2', 'worker.7');
    table.ended('run_a', 'token-run_a');
    table.ended('run_b', 'token-run_b');
    assert.deepEqual(table.ofWorker('worker.8'), []);
  });

  test('the leases of a lost shard are removed without an effect', () => {
    add('run_a', { shard: 1 });
    add('run_b', { shard: 2 });
    table.dropShards(new Set([1]));
    after(LEASE_MS + 1);
    assert.deepEqual(expired, ['run_b']);
  });
});

test('a session names its worker and the number of the stream', () => {
  assert.equal(workerOf('w.x.12'), 'w.x');
  assert.equal(streamNumberOf('w.x.12'), 12);
});
