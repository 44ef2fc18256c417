import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { createLogger } from '@methods/logging/logger';
import type { TellOutcome } from '../actor/run-actor.ts';
import type { RunActors } from '../actor/run-actors.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import type { RunCommand } from '../run/run-command.ts';
import { LeaseKeeper } from './lease-keeper.ts';

const LEASE_MS = 60_000;
const RUN = 'run_a' as const;
const TOKEN = 'token';
const GRANTED = { runId: RUN, shard: 0, token: TOKEN, session: 'worker.1', nodeId: 'here', accepted: false };
const LEASE = { ...GRANTED, cancelAskedAtMs: null };
const unavailable: TellOutcome = { kind: 'failed', code: 'unavailable' };
const notDue: TellOutcome = { kind: 'refused', code: 'not_due', run: null };

describe('leases and what becomes of their runs', () => {
  let clock: ManualClock;
  let told: string[];
  let outcome: TellOutcome;
  let notices: string[];
  let keeper: LeaseKeeper;

  beforeEach(() => {
    clock = new ManualClock();
    told = [];
    notices = [];
    outcome = unavailable;
    const actors = {
      async tell(_orgId: string | null, _runId: string, command: RunCommand) {
        told.push(command.type);
        return outcome;
      },
    };
    keeper = new LeaseKeeper({
      nodeId: 'here',
      clock,
      leaseMs: LEASE_MS,
      actors: () => actors as unknown as RunActors,
      ownsRun: () => true,
      isMember: () => true,
      cancelNotice: (_to, { runId }) => notices.push(runId),
      refuse: () => {},
      logger: createLogger({ name: 'test', level: 'silent' }),
    });
    keeper.leases.add(LEASE);
  });

  async function after(ms: number): Promise<void> {
    clock.forward(ms);
    keeper.leases.sweep();
    await new Promise(setImmediate);
  }

  test('a grant that could not be returned keeps its lease and is returned later', async () => {
    keeper.returnGrant(RUN, TOKEN);
    await after(0);
    assert.deepEqual(told, ['return_grant']);
    assert.ok(keeper.leases.has(RUN));
    await after(10_001);
    assert.deepEqual(told, ['return_grant', 'return_grant']);
  });

  test('a grant under which a worker had reported keeps the rest of its lease', async () => {
    await after(9_000);
    outcome = notDue;
    keeper.returnGrant(RUN, TOKEN);
    await after(LEASE_MS - 9_001);
    assert.deepEqual(told, ['return_grant']);
    await after(2);
    assert.deepEqual(told, ['return_grant', 'expire_lease']);
  });

  test('a run that a reconnected worker had accepted and no longer holds is lost; one it never accepted is not', async () => {
    keeper.workerSeen('here', { session: 'worker.2', held: [] });
    await after(0);
    assert.deepEqual(told, ['return_grant']);
    keeper.leases.renew(RUN, TOKEN, 'here', 'worker.1');
    keeper.workerSeen('here', { session: 'worker.2', held: [] });
    await after(0);
    assert.deepEqual(told, ['return_grant', 'expire_lease']);
  });

  test('a run that a worker reported on to an earlier owner, and no longer names in its hello, is lost', async () => {
    keeper.leases.ended(RUN, TOKEN);
    keeper.leases.add({ ...LEASE, accepted: true, nodeId: null });
    outcome = notDue;
    keeper.workerSeen('here', { session: 'worker.2', held: [] });
    await after(0);
    assert.deepEqual(told, ['return_grant', 'expire_lease']);
  });

  test('a sign of life from before the cancel notifies the worker again, a later one ends the run', () => {
    keeper.leases.renew(RUN, TOKEN, 'here', null);
    const lease = keeper.leases.get(RUN, TOKEN);
    assert.ok(lease !== null);
    clock.forward(1_000);
    lease.cancelAskedAtMs = clock.monotonicMs();
    clock.forward(500);
    keeper.heartbeats('here', [{ runId: RUN, token: TOKEN, ageMs: 600 }]);
    assert.deepEqual([told, notices], [[], [RUN]]);
    keeper.heartbeats('here', [{ runId: RUN, token: TOKEN, ageMs: 100 }]);
    assert.deepEqual(told, ['heartbeat']);
  });
});
