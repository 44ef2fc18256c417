import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { newRunId, type RunId } from '@methods/base/ids';
import type { SharesOptions } from '@methods/base/shares';
import { RunStatus } from '@methods/proto/run/v1/run_pb';
import { until } from '@methods/test/harness/until';
import { ManualClock } from '../manual-clock.fixture.ts';
import { runs } from '../run/run.fixture.ts';
import type { Run, StepSummary } from '../run/run.ts';
import type { RunViewMessage } from '../wire/run-message.ts';
import { RunWatchers, type ViewReceiver } from './run-watchers.ts';

const OWN_SHARD = 3;
const FOREIGN_SHARD = 4;

class Gateway implements ViewReceiver {
  readonly told: RunViewMessage[] = [];

  push(view: RunViewMessage): void {
    this.told.push(view);
  }

  get statuses(): (RunStatus | undefined)[] {
    return this.told.map((view) => view.status);
  }

  get revisions(): (number | undefined)[] {
    return this.told.map((view) => view.revision);
  }
}

const step: StepSummary = {
  path: 'greet',
  kind: 'node',
  status: 'succeeded',
  attempt: 1,
  startedAtMs: 1,
  finishedAtMs: 2,
  runningMs: 1,
  waitingMs: 0,
  checks: [],
  error: null,
};

function as(run: Run, runId: RunId): Run {
  return { ...run, facts: { ...run.facts, runId } };
}

function waiting(runId: RunId, revision: number): Run {
  return { ...as(runs.waiting, runId), revision };
}

describe('gateways that wait for runs', () => {
  let watchers: RunWatchers;
  let gateway: Gateway;
  let rows: Map<string, Run>;
  let reads: { runId: RunId; arrive: () => void }[];
  let held: boolean;
  let shards: string[];
  let owned: number[];
  let watched: string[][];
  let clock: ManualClock;

  beforeEach(() => {
    gateway = new Gateway();
    rows = new Map();
    reads = [];
    held = false;
    shards = [];
    owned = [OWN_SHARD];
    clock = new ManualClock();
    watched = [];
    watchers = watchersWith();
  });

  function watchersWith(places?: SharesOptions, answeredPlaces?: SharesOptions): RunWatchers {
    return new RunWatchers({
      ...(places && { places }),
      ...(answeredPlaces && { answeredPlaces }),
      clock,
      shardCount: 256,
      owns: (shard) => owned.includes(shard),
      read(runId) {
        const row = rows.get(runId) ?? null;
        return new Promise((resolve) => {
          reads.push({ runId, arrive: () => resolve(row) });
          if (!held) resolve(row);
        });
      },
      shardWatched: (shard, watched) => shards.push(`${shard} ${watched}`),
      stepsWatched: (runIds) => watched.push([...runIds]),
    });
  }

  test('a gateway that started a run is notified of its first rest, once', () => {
    const runId = newRunId(OWN_SHARD);
    watchers.startedBy('org_a', runId, gateway);
    watchers.committed(null, as(runs.queued, runId));
    watchers.committed(null, as(runs.running, runId));
    assert.deepEqual(gateway.told, []);
    watchers.committed(null, as(runs.waiting, runId));
    watchers.committed(null, as(runs.succeeded, runId));
    assert.deepEqual(gateway.statuses, [RunStatus.WAITING]);
  });

  test('a gateway that watches is notified of every rest until the run has finished', () => {
    const runId = newRunId(OWN_SHARD);
    watchers.watch('org_a', runId, gateway);
    for (const run of [runs.waiting, runs.queued, runs.succeeded]) watchers.committed(null, as(run, runId));
    assert.deepEqual(gateway.statuses, [RunStatus.WAITING, RunStatus.SUCCEEDED]);
  });

  test("a subscription to another node's shard ends at the second idle check, so that short runs share one", () => {
    for (let n = 0; n < 5; n++) {
      const runId = newRunId(FOREIGN_SHARD);
      watchers.startedBy('org_a', runId, gateway);
      watchers.committed(null, as(runs.succeeded, runId));
      if (n === 2) watchers.pollForeign();
    }
    const watched = newRunId(FOREIGN_SHARD);
    watchers.watch('org_a', watched, gateway);
    for (let look = 0; look < 3; look++) watchers.pollForeign();
    assert.deepEqual(shards, ['4 true']);
    watchers.unwatch(watched, gateway);
    watchers.pollForeign();
    assert.deepEqual(shards, ['4 true']);
    watchers.pollForeign();
    watchers.pollForeign();
    assert.deepEqual(shards, ['4 true', '4 false']);
    watchers.watch('org_a', watched, gateway);
    assert.deepEqual(shards, ['4 true', '4 false', '4 true']);
  });

  test('subscribes to a shard of this node when another node takes it, and unsubscribes when it comes back', () => {
    const [own, foreign] = [newRunId(OWN_SHARD), newRunId(FOREIGN_SHARD)];
    watchers.watch('org_a', own, gateway);
    watchers.watch('org_a', foreign, gateway);
    watchers.ownersChanged();
    assert.deepEqual([shards, reads.length], [['4 true'], 0]);
    owned = [];
    watchers.ownersChanged();
    assert.deepEqual(shards, ['4 true', '3 true']);
    // Changes of the new owner before the subscription are in the row.
    assert.deepEqual(new Set(reads.map(({ runId }) => runId)), new Set([own, foreign]));
    owned = [OWN_SHARD, FOREIGN_SHARD];
    watchers.ownersChanged();
    assert.deepEqual(shards.slice(2).sort(), ['3 false', '4 false']);
    owned = [OWN_SHARD];
    watchers.unwatch(foreign, gateway);
    watchers.ownersChanged();
    assert.equal(shards.length, 4);
  });

  test('a gateway that started and watches a run is notified of each rest once', () => {
    const runId = newRunId(OWN_SHARD);
    watchers.startedBy('org_a', runId, gateway);
    watchers.watch('org_a', runId, gateway);
    watchers.committed(null, as(runs.succeeded, runId));
    assert.equal(gateway.told.length, 1);
  });

  test('a gateway that stopped watching, or is gone, is not notified', () => {
    const [first, second] = [newRunId(OWN_SHARD), newRunId(OWN_SHARD)];
    watchers.watch('org_a', first, gateway);
    watchers.watch('org_a', second, gateway);
    watchers.unwatch(first, gateway);
    watchers.committed(null, as(runs.succeeded, first));
    watchers.gone(gateway);
    watchers.committed(null, as(runs.succeeded, second));
    assert.deepEqual(gateway.told, []);
  });

  test('a run that another node changed is read, and pushed when it rests', async () => {
    const runId = newRunId(FOREIGN_SHARD);
    watchers.watch('org_a', runId, gateway);
    rows.set(runId, as(runs.succeeded, runId));
    watchers.changedElsewhere([runId, newRunId(FOREIGN_SHARD)]);
    await until('it is told', () => gateway.told.length === 1);
    assert.deepEqual(
      reads.map((read) => read.runId),
      [runId],
    );
  });

  test('a change that arrives while the row is being read is not missed', async () => {
    const runId = newRunId(FOREIGN_SHARD);
    watchers.watch('org_a', runId, gateway);
    rows.set(runId, as(runs.queued, runId));
    held = true;
    watchers.changedElsewhere([runId]);
    rows.set(runId, as(runs.succeeded, runId));
    watchers.changedElsewhere([runId]);
    held = false;
    reads[0]?.arrive();
    await until('it is told', () => gateway.told.length === 1);
    assert.deepEqual(gateway.statuses, [RunStatus.SUCCEEDED]);
  });

  test('the poll reaches every watched run of other nodes, and none of this one', async () => {
    const foreign = Array.from({ length: 600 }, () => newRunId(FOREIGN_SHARD));
    watchers.watch('org_a', newRunId(OWN_SHARD), gateway);
    for (const runId of foreign) {
      watchers.watch('org_a', runId, gateway);
      rows.set(runId, as(runs.running, runId));
    }
    for (let poll = 0; poll < 3; poll++) {
      const before = reads.length;
      watchers.pollForeign();
      assert.ok(reads.length - before <= 256);
      // Completed reads make room for the next read of the same run.
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(new Set(reads.map((read) => read.runId)), new Set(foreign));
  });

  test('a gateway that watches step by step is notified of every change, and of the first and last of a burst', () => {
    const runId = newRunId(OWN_SHARD);
    const other = new Gateway();
    watchers.watch('org_a', runId, gateway, true);
    watchers.watch('org_a', runId, other);
    const told = () => gateway.told.map((view) => view.revision);
    for (const revision of [1, 2, 3]) watchers.committed(null, { ...as(runs.running, runId), revision });
    assert.deepEqual(told(), [1]);
    clock.forward(100);
    assert.deepEqual(told(), [1, 3]);
    clock.forward(100);
    watchers.committed(null, { ...as(runs.running, runId), revision: 4 });
    assert.deepEqual(told(), [1, 3, 4]);
    // The end is sent at once, and no earlier held-back change is sent after it.
    watchers.committed(null, { ...as(runs.running, runId), revision: 5 });
    watchers.committed(null, { ...as(runs.succeeded, runId), revision: 6 });
    clock.forward(1_000);
    assert.deepEqual(told(), [1, 3, 4, 6]);
    assert.deepEqual(other.statuses, [RunStatus.SUCCEEDED]);
  });

  test("a long run's views are sent less often", () => {
    const runId = newRunId(OWN_SHARD);
    watchers.watch('org_a', runId, gateway, true);
    const steps = Array.from({ length: 5_000 }, () => step);
    for (const revision of [1, 2]) watchers.committed(null, { ...as(runs.running, runId), revision, steps });
    clock.forward(999);
    assert.equal(gateway.told.length, 1);
    clock.forward(1);
    assert.equal(gateway.told.length, 2);
  });

  test('the owner of a run is notified that its steps are watched, repeatedly while they are', async () => {
    const runId = newRunId(FOREIGN_SHARD);
    rows.set(runId, as(runs.running, runId));
    watchers.watch('org_a', newRunId(OWN_SHARD), gateway, true);
    watchers.watch('org_a', newRunId(FOREIGN_SHARD), gateway);
    watchers.watch('org_a', runId, gateway, true);
    watchers.tellStepwise();
    assert.deepEqual(watched, [[runId], [runId]]);
    watchers.changedElsewhere([runId]);
    await until('its row is told', () => gateway.told.length === 1);
    assert.deepEqual(gateway.statuses, [RunStatus.RUNNING]);
    watchers.unwatch(runId, gateway);
    watchers.tellStepwise();
    assert.equal(watched.length, 2);
  });

  test('a gateway that answered is notified of the next rest, for a share of the runs; no watch is refused because of it', () => {
    const limited = watchersWith({ placesMax: 100, perOrganizationMax: 4 }, { placesMax: 100, perOrganizationMax: 2 });
    const [first, second, third, fourth] = [0, 1, 2, 3].map(() => newRunId(OWN_SHARD)) as [RunId, RunId, RunId, RunId];
    assert.equal(limited.answeredBy('org_a', first, gateway), 'new');
    assert.equal(limited.answeredBy('org_a', first, gateway), 'known');
    assert.equal(limited.answeredBy('org_a', second, gateway), 'new');
    assert.equal(limited.answeredBy('org_a', third, gateway), 'full');
    limited.answeredAt(first, gateway, 1);
    limited.answeredAt(first, gateway, 0);
    limited.watch('org_a', third, gateway);
    limited.watch('org_a', fourth, gateway);
    limited.committed(null, as(runs.waiting, first));
    limited.committed(null, as(runs.succeeded, second));
    assert.deepEqual(gateway.statuses, [RunStatus.WAITING, RunStatus.SUCCEEDED]);
    // Both places are free again.
    limited.committed(null, as(runs.succeeded, third));
    limited.committed(null, as(runs.succeeded, fourth));
    const more = [0, 1, 2].map(() => limited.answeredBy('org_a', newRunId(OWN_SHARD), gateway));
    assert.deepEqual(more, ['new', 'new', 'full']);
  });

  test('a gateway that answered is notified of the next rest, also behind a late read of the answered question', () => {
    const runId = newRunId(OWN_SHARD);
    watchers.startedBy('org_a', runId, gateway);
    assert.equal(watchers.answeredBy('org_a', runId, gateway), 'known');
    watchers.committed(null, waiting(runId, 3));
    watchers.answeredAt(runId, gateway, 4);
    watchers.committed(null, waiting(runId, 3));
    watchers.committed(null, waiting(runId, 6));
    watchers.committed(null, waiting(runId, 9));
    assert.deepEqual(gateway.revisions, [3, 3, 6]);
  });

  test('a refused answer does not end the watch of another one', () => {
    const runId = newRunId(OWN_SHARD);
    watchers.answeredBy('org_a', runId, gateway);
    watchers.answeredBy('org_a', runId, gateway);
    watchers.answeredAt(runId, gateway, 4);
    watchers.committed(null, waiting(runId, 3));
    watchers.answeredAt(runId, gateway, 0);
    watchers.committed(null, waiting(runId, 3));
    watchers.committed(null, waiting(runId, 6));
    watchers.committed(null, waiting(runId, 9));
    assert.deepEqual(gateway.revisions, [3, 3, 6]);
  });

  test('a gateway is notified once of a rest that comes before the reply to its answer', () => {
    const runId = newRunId(OWN_SHARD);
    watchers.answeredBy('org_a', runId, gateway);
    watchers.committed(null, waiting(runId, 6));
    watchers.committed(null, waiting(runId, 3));
    watchers.answeredAt(runId, gateway, 4);
    watchers.committed(null, waiting(runId, 9));
    assert.deepEqual(gateway.revisions, [6, 3]);
  });

  test('an organization watches no more runs than its share, and gets an error; others still watch', () => {
    const limited = watchersWith({ placesMax: 100, perOrganizationMax: 10 });
    const mine = Array.from({ length: 10 }, () => newRunId(OWN_SHARD));
    for (const runId of mine) limited.watch('org_a', runId, gateway);
    assert.throws(() => limited.watch('org_a', newRunId(OWN_SHARD), gateway), {
      code: 'rate_limited',
      facts: { share: 'organization', limit: '10' },
    });
    const theirs = newRunId(OWN_SHARD);
    limited.watch('org_b', theirs, gateway);
    limited.committed(null, as(runs.succeeded, theirs));
    assert.deepEqual(
      gateway.told.map(({ runId }) => runId),
      [theirs],
    );
    // Finished runs, ended watches and watches of lost gateways use no place.
    for (const runId of mine.slice(0, 5)) limited.committed(null, as(runs.succeeded, runId));
    limited.unwatch(mine[5] ?? 'run_none', gateway);
    limited.gone(gateway);
    for (let i = 0; i < 10; i++) limited.watch('org_a', newRunId(OWN_SHARD), gateway);
  });

  test('a request for a run of another organization does not end its watch', () => {
    const runId = newRunId(OWN_SHARD);
    assert.equal(watchers.watch('org_a', runId, gateway), true);
    assert.equal(watchers.watch('org_b', runId, gateway), false);
  });
});
