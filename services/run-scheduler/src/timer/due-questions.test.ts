import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { newRunId } from '@methods/base/ids';
import { until } from '@methods/test/harness/until';
import { TestActors } from '../actor/test-actors.fixture.ts';
import { answer, ask, claim } from '../run/run.fixture.ts';
import type { Run, RunFacts } from '../run/run.ts';
import { TestStore } from '../store/run-store.fixture.ts';
import { heldTimers, timerOf } from './due-questions.fixture.ts';
import type { DueQuestions } from './due-questions.ts';

const NO_RULES = { to: [], notStarter: false, needs: null, remindMs: [], escalate: null, timeoutAnswerJson: null };

describe('questions without an answer', () => {
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

  async function waiting(timeoutMs: number | null, more: Partial<RunFacts> = {}): Promise<Run> {
    const run = await node.running(more);
    const asked = await node.tell(run, ask(run.token, 1, `q_${run.facts.runId}`, timeoutMs));
    if (asked.kind !== 'accepted') throw new Error('not asked');
    return asked.run;
  }

  function statusOf(run: Run): Promise<string | undefined> {
    return db.load(run.facts.runId).then((loaded) => loaded?.status);
  }

  test("a question ends at its deadline, not before it by the database's clock", async () => {
    due.start();
    const run = await waiting(300);
    await until('it has failed', async () => (await statusOf(run)) === 'failed');
    const failed = await db.load(run.facts.runId);
    assert.ok(failed?.status === 'failed' && run.status === 'waiting');
    assert.equal(failed.error.code, 'no_answer');
    const sinceAskedMs = (await db.nowMs()) - run.question.askedAtMs;
    assert.ok(sinceAskedMs >= 300, `${sinceAskedMs} ms`);
  });

  test('a run of a version with cleanup steps is queued for them, and fails when no worker takes it in time', async () => {
    due.start();
    const run = await waiting(300, { cleansUp: true });
    await until('it is queued', async () => (await statusOf(run)) === 'queued');
    const queued = await db.load(run.facts.runId);
    assert.ok(queued?.ending && run.status === 'waiting');
    assert.equal(queued.ending.error.code, 'no_answer');
    assert.equal(queued.steps.find(({ path }) => path === run.question.step)?.status, 'failed');
    const [deadline] = await db.sql`select wake_at_ms from scheduler.deadlines where run_id = ${run.facts.runId}`;
    assert.equal(Number(deadline?.wake_at_ms), queued.ending.byMs);
    // As if its time had come: the commit itself compares it with the database's clock.
    assert.equal((await node.tell(queued, { type: 'wake' })).kind, 'refused');
    const claimed = await node.tell(queued, claim('t_later'));
    assert.ok(claimed.kind === 'accepted' && claimed.run.ending === null);
    assert.equal((await db.sql`select run_id from scheduler.deadlines where run_id = ${run.facts.runId}`).length, 0);
  });

  test("a question ends when the database's clock jumps past its deadline, whether armed or not", async () => {
    const nowMs = await db.nowMs();
    let behindMs = 3_600_000;
    // As on a node that read the clock before it jumped by an hour.
    node.between = async (commit) => {
      const outcome = await commit();
      return { ...outcome, nowMs: outcome.nowMs - behindMs };
    };
    node.databaseClock.observe(nowMs - behindMs);
    const armed = await waiting(30_000);
    const later = await waiting(600_000);
    due.start();
    node.databaseClock.onJump(() => due.look());
    const deadlineMs = (run: Run) => (run.status === 'waiting' ? (run.question.deadlineAtMs ?? 0) : 0);
    assert.ok(deadlineMs(armed) < nowMs && deadlineMs(later) < nowMs);
    behindMs = 0;
    node.databaseClock.observe(await db.nowMs());
    await until('both have failed', async () => {
      const statuses = await Promise.all([statusOf(armed), statusOf(later)]);
      return statuses.every((status) => status === 'failed');
    });
  });

  test("a node whose clock is ahead waits for the database's clock", async () => {
    node.databaseClock.observe((await db.nowMs()) + 900);
    const commits: number[] = [];
    node.between = async (commit, batch) => {
      const outcome = await commit();
      if (batch.some((change) => change.dueMs > 0 && outcome.done.has(change.after.facts.runId))) {
        commits.push(outcome.nowMs);
      }
      return outcome;
    };
    due.start();
    const run = await waiting(200);
    assert.ok(run.status === 'waiting');
    await until('it has failed', async () => (await statusOf(run)) === 'failed');
    // The database shows a commit before the node gets its reply.
    await until('the node has heard of it', () => commits.length > 0);
    assert.equal(commits.length, 1);
    assert.ok((commits[0] ?? 0) >= (run.question.deadlineAtMs ?? 0));
  });

  test('an answered question never ends the run, nor the question after it', async () => {
    due.stop();
    const timers = heldTimers();
    due = timerOf(node, timers.clock);
    due.start();
    const run = await waiting(150);
    assert.equal((await node.tell(run, answer(`q_${run.facts.runId}`, 'd'))).kind, 'accepted');
    timers.begin();
    await node.tell(run, claim('t2'));
    await node.tell(run, ask('t2', 1, 'q_next', null));
    const other = await waiting(250);
    await until('the later one has failed', async () => (await statusOf(other)) === 'failed');
    assert.equal(await statusOf(run), 'waiting');
  });

  test('deadlines that were stored before the node took the shard are kept', async () => {
    const run = await waiting(50);
    due.stop();
    due = timerOf(node);
    due.start();
    await until('it has failed', async () => (await statusOf(run)) === 'failed');
  });

  test('retries when the database cannot be written', async () => {
    const run = await waiting(100);
    let refusals = 3;
    node.between = async (commit, batch) => {
      if (refusals === 0 || batch.every((change) => change.dueMs === 0)) return commit();
      refusals--;
      throw Object.assign(new Error('full'), { code: '53100' });
    };
    due.start();
    await until('it has failed', async () => (await statusOf(run)) === 'failed');
    assert.equal(refusals, 0);
  });

  test('a node loses the deadlines of a shard that it gives away', async () => {
    const [kept, gone] = [await waiting(150, { shard: 0 }), await waiting(100, { shard: 1 })];
    due.start();
    node.lose([1]);
    await until('the other has failed', async () => (await statusOf(kept)) === 'failed');
    assert.equal(await statusOf(gone), 'waiting');
  });

  test('3,000 simultaneous questions end in few statements and timers, and other commands run meanwhile', async () => {
    const nowMs = await db.nowMs();
    await manyWaiting(3_000, nowMs);
    await manyWaiting(1, nowMs + 500, { orgId: 'org_b' });
    due.stop();
    const reads: string[] = [];
    node.reading = (statement) => reads.push(statement);
    let timers = 0;
    due = timerOf(node, {
      ...systemClock,
      after(delayMs, run) {
        timers++;
        return systemClock.after(delayMs, run);
      },
    });
    // In the turn of the fourth commit: a poll from outside may come when all are over.
    let started: Promise<unknown> | null = null;
    node.between = (commit) => {
      if (node.batches.length > 3) started ??= node.started();
      return commit();
    };
    due.start();
    await until('they are under way', () => started !== null);
    await started;
    const startedIn = node.batches.findIndex((batch) => batch.some(({ before }) => before === null));
    assert.ok(startedIn < 9, `a start was in commit ${startedIn}: it waits for what is under way, not for all`);
    await until('none is left', async () => (await open()) === 0);
    const otherIn = node.batches.findIndex((batch) => batch.some(({ after }) => after.facts.orgId === 'org_b'));
    assert.ok(otherIn < 3, `another organization's deadline was in commit ${otherIn}`);
    // 12 batches of 256, one for the start, and those that a timer divided.
    assert.ok(node.batches.length <= 18, `${node.batches.length} commits`);
    const count = (name: string) => reads.filter((read) => read === name).length;
    assert.ok(count('load') <= 18, `${count('load')} reads of runs`);
    assert.equal(count('dueQuestions'), 1);
    // One for the read itself, and one for each page.
    assert.ok(timers <= 36, `${timers} timers`);
  });

  test('2,000 reminders due at once take as few statements, each keeps a row for its deadline, and each is sent once', async () => {
    const nowMs = await db.nowMs();
    const deadlineAtMs = nowMs + 3_600_000;
    await manyWaiting(2_000, nowMs, { rules: { remindMs: [1], deadlineAtMs } });
    await manyWaiting(1, nowMs + 500, { orgId: 'org_b', rules: { remindMs: [1], deadlineAtMs } });
    const reads: string[] = [];
    node.reading = (statement) => reads.push(statement);
    const reminded = async () => (await db.sql`select from scheduler.outbox`).length;
    const before = await reminded();
    due.start();
    await until('all are reminded', async () => (await reminded()) - before === 2_001);
    assert.ok(node.batches.length <= 14, `${node.batches.length} commits`);
    assert.ok(Math.max(...node.batches.map((batch) => batch.length)) <= 256);
    assert.equal(reads.filter((read) => read === 'dueQuestions').length, 1);
    const otherIn = node.batches.findIndex((batch) => batch.some(({ after }) => after.facts.orgId === 'org_b'));
    assert.ok(otherIn < 3, `another organization's reminder was in commit ${otherIn}`);
    const left = await db.sql<{ wake_at_ms: string }[]>`select wake_at_ms from scheduler.deadlines`;
    assert.deepEqual(
      [left.length, new Set(left.map((row) => Number(row.wake_at_ms)))],
      [2_001, new Set([deadlineAtMs])],
    );
  });

  test('runs that take much memory are read few at a time', async () => {
    await manyWaiting(40, await db.nowMs(), { bytes: 3 << 20 });
    due.start();
    await until('none is left', async () => (await open()) === 0);
    const sizes = node.batches.map((batch) => batch.length);
    assert.ok(Math.max(...sizes) <= 3, `${sizes} runs a commit`);
  });

  test('a deadline keeps the memory size of its run', async () => {
    const run = await waiting(60_000, { inputsJson: JSON.stringify('x'.repeat(50_000)) });
    const { questions } = await node.store.dueQuestions([0], (await db.nowMs()) + 90_000, { wakeAtMs: 0, runId: '' });
    const bytes = questions.find(({ runId }) => runId === run.facts.runId)?.bytes ?? 0;
    assert.ok(bytes > 50_000 && bytes < 52_000, `${bytes} bytes`);
  });

  /** Stores runs that wait for an answer, whose deadline or first reminder passed at least a second ago. */
  async function manyWaiting(
    count: number,
    nowMs: number,
    { orgId = 'org_a', bytes = 0, rules = null as { remindMs: number[]; deadlineAtMs: number } | null } = {},
  ): Promise<void> {
    const ids = Array.from({ length: count }, (_, i) => newRunId(i % 4, nowMs));
    const question = JSON.stringify({
      id: 'q',
      prompt: '?',
      details: '',
      show: [],
      formJson: '{}',
      askedAtMs: 1,
      deadlineAtMs: rules?.deadlineAtMs ?? nowMs - 1_000,
      ...(rules && { policy: { ...NO_RULES, remindMs: rules.remindMs } }),
      step: 'ask',
      timeoutText: '1 s',
    });
    await db.sql`
      insert into scheduler.runs (run_id, org_id, shard, revision, method, version_id, inputs_json, idempotency_hash,
        request_digest, key_id, answer_by, created_at_ms, max_attempts, needs, status, state_since_ms, queued_ms,
        running_ms, waiting_ms, attempts, attempt_open, last_seq, question_json)
      select id, ${orgId}, (n - 1) % 4, 3, 'wf_a', 'ver_a', '{}', sha256(convert_to(id, 'UTF8')), '', 'key_a', 'team', 1, 3, '',
        'waiting', 1, 1, 1, 0, 1, true, 1, jsonb_set(${question}::text::jsonb, '{id}', to_jsonb('q_' || id))
      from unnest(${ids}::text[]) with ordinality as t(id, n)`;
    await db.sql`
      insert into scheduler.deadlines (run_id, org_id, question_id, wake_at_ms, shard, bytes)
      select id, ${orgId}, 'q_' || id, ${nowMs - 1_000}::bigint, (n - 1) % 4, ${bytes}::integer
      from unnest(${ids}::text[]) with ordinality as t(id, n)`;
  }

  async function open(): Promise<number> {
    const [row] = await db.sql<{ n: number }[]>`select count(*)::int as n from scheduler.deadlines`;
    return row?.n ?? -1;
  }
});
