import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { OrgId } from '@methods/base/ids';
import { until } from '@methods/test/harness/until';
import { cancel, claim } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import { decide, newFacts, startOf, TestStore } from '../store/run-store.fixture.ts';
import type { BatchOutcome, RunChange } from '../store/run-store.ts';
import type { ChangeOutcome } from './committer.ts';
import { TestActors } from './test-actors.fixture.ts';

describe('the group commit', () => {
  let db: TestStore;
  let node: TestActors;

  before(async () => {
    db = await TestStore.open();
  });
  beforeEach(async () => {
    node = await TestActors.on(db);
  });
  after(() => db.close());

  function startChange(shard = 0, more: Parameters<typeof newFacts>[1] = {}): RunChange {
    return decide(null, startOf(newFacts(shard, more)), node.databaseClock.nowMs());
  }

  function submitAll(changes: readonly RunChange[]): Promise<ChangeOutcome[]> {
    return Promise.all(changes.map((change) => node.committer.submit(change)));
  }

  async function loaded({ after }: RunChange): Promise<Run | undefined> {
    return db.load(after.facts.runId);
  }

  /** A batch of ten has been committed, and the next one of its organization waits for more changes. */
  async function underLoad(): Promise<{ second: Promise<ChangeOutcome> }> {
    const open = closeGate();
    const first = submitAll(Array.from({ length: 10 }, () => startChange()));
    await until('the first is under way', () => node.batches.length === 1);
    const second = node.committer.submit(startChange());
    open();
    await first;
    return { second };
  }

  const sizes = () => node.batches.map((batch) => batch.length);

  /** Holds commits at a gate; returns the function that opens it. */
  function closeGate(): () => void {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    node.between = async (commit) => {
      await gate;
      return commit();
    };
    return open;
  }

  test('commits the changes of one turn in one statement, and a single change at once', async () => {
    assert.deepEqual(await submitAll([startChange(0), startChange(1), startChange(2)]), ['done', 'done', 'done']);
    assert.deepEqual(await submitAll([startChange()]), ['done']);
    assert.deepEqual(sizes(), [3, 1]);
  });

  test('runs one statement of an organization at a time, and gathers the next meanwhile', async () => {
    const open = closeGate();
    const first = node.committer.submit(startChange());
    await until('the first is under way', () => node.batches.length === 1);
    const later = submitAll(Array.from({ length: 40 }, () => startChange()));
    assert.equal(node.batches.length, 1);
    open();
    assert.equal(await first, 'done');
    assert.ok((await later).every((outcome) => outcome === 'done'));
    assert.deepEqual(sizes(), [1, 40]);
  });

  test('an organization waits only for its own statement, and at most two run at a time', async () => {
    const closed = new Set(['org_a', 'org_b']);
    node.between = async (commit, batch) => {
      await until('its gate is open', () => !closed.has(batch[0]?.after.facts.orgId ?? ''));
      return commit();
    };
    const submit = (orgId: OrgId) => node.committer.submit(startChange(0, { orgId }));
    const orgs = () => node.batches.map((batch) => batch.map(({ after }) => after.facts.orgId));
    const first = submit('org_a');
    await until('the first is under way', () => node.batches.length === 1);
    const own = submit('org_a');
    assert.equal(await submit('org_c'), 'done');
    const second = submit('org_b');
    await until('the second is under way', () => node.batches.length === 3);
    const third = submit('org_c');
    let idle = false;
    const waited = node.committer.idle().then(() => {
      idle = true;
    });
    closed.delete('org_b');
    assert.deepEqual([await second, await third], ['done', 'done']);
    assert.deepEqual(orgs(), [['org_a'], ['org_c'], ['org_b'], ['org_c']]);
    assert.equal(idle, false);
    closed.delete('org_a');
    assert.deepEqual([await first, await own], ['done', 'done']);
    await waited;
    assert.deepEqual(orgs().at(-1), ['org_a']);
  });

  test('commits a thousand starts of one organization in few statements, and gives another organization its part of the next', async () => {
    const open = closeGate();
    const first = submitAll(Array.from({ length: 3 }, (_, n) => startChange(0, { orgId: `org_${n}` })));
    await until('the first is under way', () => node.batches.length === 1);
    const submit = (orgId: OrgId, count: number) =>
      submitAll(Array.from({ length: count }, () => startChange(0, { orgId })));
    const many = [submit('org_a', 1_000), submit('org_b', 300)];
    const few = submit('org_c', 2);
    open();
    await Promise.all([first, ...many, few]);
    const counts = node.batches.map((batch) => {
      const of = (orgId: OrgId) => batch.filter(({ after }) => after.facts.orgId === orgId).length;
      return [of('org_a'), of('org_b'), of('org_c')];
    });
    assert.deepEqual(counts[1], [127, 127, 2]);
    assert.deepEqual(counts.slice(2, 4), [
      [128, 128, 0],
      [211, 45, 0],
    ]);
    assert.ok(counts.length <= 8, `${counts.length} statements`);
  });

  test('new epochs after a statement without a reply do not refuse the other statement in flight', async () => {
    let refused = 0;
    node.between = async (commit) => {
      if (refused++ > 0) return commit();
      // As if the old statement reached the server only after the new epochs.
      await db.sql`update scheduler.shards set epoch = epoch + 1 where shard = 0`;
      const outcome = await commit();
      node.epochs.set(0, (node.epochs.get(0) ?? 0) + 1);
      return outcome;
    };
    assert.deepEqual(await submitAll([startChange(0), startChange(1)]), ['done', 'done']);
    assert.deepEqual(sizes(), [2, 1]);
    assert.equal(node.epochs.size, 4);
  });

  test('the next statement is in flight before the effects of the last one run', async () => {
    const open = closeGate();
    const told: number[] = [];
    const first = node.committer.submit(startChange()).then(() => told.push(node.batches.length));
    await until('the first is under way', () => node.batches.length === 1);
    const later = submitAll(Array.from({ length: 40 }, () => startChange()));
    open();
    await Promise.all([first, later]);
    assert.deepEqual(told, [2]);
  });

  test('under load a small batch waits for more changes, at most until it has 32', async () => {
    const { second } = await underLoad();
    const company = submitAll(Array.from({ length: 31 }, () => startChange()));
    assert.equal(await second, 'done');
    await company;
    assert.deepEqual(sizes(), [10, 32]);
  });

  test('under load of one organization a change of another one does not wait', async () => {
    const { second } = await underLoad();
    const other = node.committer.submit(startChange(0, { orgId: 'org_other' }));
    assert.deepEqual(await Promise.all([second, other]), ['done', 'done']);
    assert.deepEqual(sizes(), [10, 1, 1]);
    assert.equal(node.batches[1]?.[0]?.after.facts.orgId, 'org_other');
  });

  test('a batch ends at 256 changes, and at 1 MiB', async () => {
    await submitAll(Array.from({ length: 300 }, () => startChange()));
    const large = `"${'x'.repeat(400_000)}"`;
    await submitAll(Array.from({ length: 3 }, () => startChange(0, { inputsJson: large })));
    assert.deepEqual(sizes(), [256, 44, 2, 1]);
  });

  test('never puts two changes of one run into one statement: only one of them can have happened', async () => {
    const run = await node.started();
    const [one, other] = [cancel, claim('t1')].map((command) => decide(run, command, node.databaseClock.nowMs()));
    assert.ok(one && other);
    assert.deepEqual(await submitAll([one, other]), ['done', 'moved_on']);
    assert.equal((await loaded(one))?.status, 'cancelled');
  });

  test('refuses only the shard whose epoch another node has, and reports it lost', async () => {
    await node.takenElsewhere(1);
    const [kept, lost] = [startChange(0), startChange(1)];
    assert.deepEqual(await submitAll([kept, lost]), ['done', 'lost_shard']);
    assert.equal(await loaded(lost), undefined);
    assert.deepEqual([...node.epochs.keys()], [0, 2, 3]);
    assert.equal(await node.committer.submit(startChange(1)), 'lost_shard');
    assert.equal(node.batches.length, 1);
  });

  test('writes nothing to a shard that is lost while a change of it waits', async () => {
    const open = closeGate();
    const first = node.committer.submit(startChange(0));
    await until('the first is under way', () => node.batches.length === 1);
    const waiting = submitAll([startChange(1), startChange(2)]);
    node.lose([1]);
    open();
    assert.equal(await first, 'done');
    assert.deepEqual(await waiting, ['lost_shard', 'done']);
    assert.equal(node.batches[1]?.length, 1);
  });

  test('an epoch renewed while a change waits does not refuse it', async () => {
    const open = closeGate();
    const first = node.committer.submit(startChange(1));
    await until('the first is under way', () => node.batches.length === 1);
    const waiting = node.committer.submit(startChange(0));
    await db.sql`update scheduler.shards set epoch = 9 where shard = 0`;
    node.epochs.set(0, 9);
    open();
    assert.deepEqual([await first, await waiting], ['done', 'done']);
  });

  test('refuses only the row that Postgres cannot store', async () => {
    const bad = startChange(0, { inputsJson: '"\0"' });
    const good = Array.from({ length: 5 }, () => startChange());
    const outcomes = await submitAll([...good.slice(0, 2), bad, ...good.slice(2)]);
    assert.deepEqual(outcomes, ['done', 'done', 'invalid', 'done', 'done', 'done']);
    for (const change of good) assert.equal((await loaded(change))?.status, 'queued');
  });

  test('distinguishes a taken key, a changed run and a time that has not come', async () => {
    const first = startChange();
    await submitAll([first]);
    const again = startChange(1, { idempotencyHash: first.after.facts.idempotencyHash });
    assert.deepEqual(await submitAll([again]), ['key_taken']);
    const stale = decide({ ...first.after, revision: 7 }, cancel, node.databaseClock.nowMs());
    assert.deepEqual(await submitAll([stale]), ['moved_on']);
    const early = { ...decide(first.after, cancel, 0), dueMs: node.databaseClock.nowMs() + 60_000 };
    assert.deepEqual(await submitAll([early]), ['moved_on']);
  });

  test('renews epochs after a connection dies in the middle of a commit, so that nothing can happen afterwards', async () => {
    const change = startChange(0);
    const other = startChange(1);
    const before = node.epochs.get(0) ?? 0;
    // The statement waits for this lock and is then disconnected from its client.
    const outcomes = await db.sql.begin(async (tx) => {
      await tx`select from scheduler.shards where shard = 0 for update`;
      const submitted = submitAll([change, other]);
      await until('the commit waits', async () => (await terminateWriter()) > 0);
      return { submitted };
    });
    assert.deepEqual(await outcomes.submitted, ['unknown', 'unknown']);
    assert.deepEqual(node.bumped, [[0, 1]]);
    assert.ok((node.epochs.get(0) ?? 0) > before);
    assert.equal(await loaded(change), undefined);
    assert.deepEqual(await submitAll([change, other]), ['done', 'done']);
  });

  async function terminateWriter(): Promise<number> {
    const rows = await db.sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like 'with held%'`;
    return rows.length;
  }

  test('renews no epoch when the server answers that nothing happened', async () => {
    let refusals = 0;
    node.between = async () => {
      refusals++;
      throw Object.assign(new Error('disk full'), { code: '53100' });
    };
    assert.deepEqual(await submitAll([startChange()]), ['unavailable']);
    assert.deepEqual([refusals, node.bumped], [1, []]);
  });

  test('a broken pipe is not a reply of the server', async () => {
    node.between = async () => {
      throw Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    };
    assert.deepEqual(await submitAll([startChange()]), ['unknown']);
    assert.equal(node.bumped.length, 1);
  });

  test('retries a batch that met a deadlock, a bounded number of times', async () => {
    let deadlocks = 2;
    const deadlock = async (commit: () => Promise<BatchOutcome>) => {
      if (deadlocks-- <= 0) return commit();
      throw Object.assign(new Error('deadlock'), { code: '40P01' });
    };
    node.between = deadlock;
    assert.deepEqual(await submitAll([startChange()]), ['done']);
    deadlocks = 1_000;
    assert.deepEqual(await submitAll([startChange()]), ['unavailable']);
  });

  test('does not commit a change whose caller has gone, and commits its neighbours', async () => {
    const open = closeGate();
    const first = node.committer.submit(startChange());
    await until('the first is under way', () => node.batches.length === 1);
    let here = true;
    const gone = startChange();
    const kept = startChange();
    const outcomes = [
      node.committer.submit({ ...gone, wanted: () => here }),
      node.committer.submit({ ...kept, wanted: () => true }),
    ];
    here = false;
    open();
    assert.deepEqual(await Promise.all([first, ...outcomes]), ['done', 'unavailable', 'done']);
    assert.equal(await loaded(gone), undefined);
    assert.equal((await loaded(kept))?.status, 'queued');
  });

  test('bounds the changes that wait behind a stalled database by count and bytes', async () => {
    const open = closeGate();
    const first = node.committer.submit(startChange());
    await until('the first is under way', () => node.batches.length === 1);
    const inputsJson = JSON.stringify('x'.repeat(3 << 20));
    const large = Array.from({ length: 30 }, () => ({ ...startChange(0, { inputsJson }), wanted: () => false }));
    const waiting = large.map((change) => node.committer.submit(change));
    const refused = (await Promise.all(waiting.slice(21))).filter((outcome) => outcome === 'unavailable');
    assert.equal(refused.length, 9);
    const change = { ...startChange(), wanted: () => false };
    const small = Array.from({ length: 25_000 }, () => node.committer.submit(change));
    assert.equal(await small.at(-1), 'unavailable');
    open();
    assert.equal(await first, 'done');
    await node.committer.idle();
    assert.deepEqual(await submitAll([startChange()]), ['done']);
  });

  test('idle waits for changes submitted before it, not for later ones', async () => {
    const openFirst = closeGate();
    const first = node.committer.submit(startChange());
    await until('the first is under way', () => node.batches.length === 1);
    let idle = false;
    const waited = node.committer.idle().then(() => {
      idle = true;
    });
    const openSecond = closeGate();
    const second = node.committer.submit(startChange());
    assert.equal(idle, false);
    openFirst();
    await waited;
    assert.equal(node.batches.length, 2);
    openSecond();
    assert.deepEqual([await first, await second], ['done', 'done']);
    await node.committer.idle();
  });
});
