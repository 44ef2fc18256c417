import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { until } from '@methods/test/harness/until';
import { TestActors } from '../actor/test-actors.fixture.ts';
import { cancel, claim, sleep } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import { TestStore } from '../store/run-store.fixture.ts';
import { heldTimers, timerOf } from './due-questions.fixture.ts';
import type { DueQuestions } from './due-questions.ts';

describe('sleeping runs', () => {
  let db: TestStore;
  let node: TestActors;
  let due: DueQuestions;

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());

  beforeEach(async () => {
    await db.sql`delete from scheduler.deadlines`;
    node = await TestActors.on(db);
    due = timerOf(node);
  });
  afterEach(() => due.stop());

  async function asleep(waitMs: number): Promise<Run> {
    const run = await node.running();
    const slept = await node.tell(run, { ...sleep(run.token, 1), waitMs } as ReturnType<typeof sleep>);
    assert.ok(slept.kind === 'accepted' && slept.run.status === 'sleeping');
    return slept.run;
  }

  /** Holds a second timer until the returned function is called. */
  function held(): () => void {
    due.stop();
    const { clock, begin } = heldTimers();
    due = timerOf(node, clock);
    due.start();
    return begin;
  }

  function queued(run: Run): Promise<boolean> {
    return db.sql`select from scheduler.queue where run_id = ${run.facts.runId}`.then((rows) => rows.length > 0);
  }

  test("are in no queue, and are queued at their time, not before it by the database's clock", async () => {
    const begin = held();
    const run = await asleep(300);
    assert.equal(await queued(run), false);
    assert.equal((await node.tell(run, claim('early'))).kind, 'refused');
    begin();
    await until('it is queued', async () => (await db.load(run.facts.runId))?.status === 'queued');
    const woken = await db.load(run.facts.runId);
    assert.ok(run.status === 'sleeping' && woken !== undefined && woken.stateSinceMs >= run.wakeAtMs);
    assert.ok(await queued(run));
    assert.ok(woken.spans.waitingMs >= 300, 'a sleep counts as waiting');
    const again = await node.tell(run, claim('t2'));
    assert.ok(again.kind === 'accepted' && again.run.attempts === 1, 'the attempt goes on');
  });

  test('are woken by a node that took their shard', async () => {
    const run = await asleep(50);
    due.stop();
    due = timerOf(node);
    due.start();
    await until('it is queued', () => queued(run));
  });

  test('sleep more than once', async () => {
    due.start();
    const run = await asleep(50);
    await until('it is queued', () => queued(run));
    await node.tell(run, claim('t2'));
    const begin = held();
    await node.tell(run, { ...sleep('t2', 1), waitMs: 50 } as ReturnType<typeof sleep>);
    assert.equal(await queued(run), false);
    begin();
    await until('it is queued again', () => queued(run));
  });

  test('are cancelled at once and never wake', async () => {
    due.start();
    const run = await asleep(100);
    assert.equal((await node.tell(run, cancel)).kind, 'accepted');
    const other = await asleep(200);
    await until('the later one is queued', () => queued(other));
    assert.equal((await db.load(run.facts.runId))?.status, 'cancelled');
    const [left] = await db.sql<{ n: number }[]>`select count(*)::int as n from scheduler.deadlines`;
    assert.equal(left?.n, 0);
  });
});
