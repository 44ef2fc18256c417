import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newRunId, type OrgId, type ProductionId, type RunId } from '@methods/base/ids';
import { sqlState } from '@methods/postgres/database-fault';
import {
  answer,
  ask,
  cancel,
  claim,
  expireQuestion,
  giveBack,
  recordStep,
  returnGrant,
  succeed,
} from '../run/run.fixture.ts';
import type { RunFacts } from '../run/run.ts';
import { keyText } from './postgres-run-store.ts';
import { decide, EPOCH, newFacts, startOf, TestStore } from './run-store.fixture.ts';
import type { QueueCursor } from './run-store.ts';

const FIRST = { wakeAtMs: 0, runId: '' as const };

describe('the store of runs', () => {
  let db: TestStore;

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());

  async function rowsOf(table: string, runId: RunId): Promise<number> {
    const rows = await db.sql.unsafe(`select 1 from scheduler.${table} where run_id = $1`, [runId]);
    return rows.length;
  }

  test('returns a run as it was committed, in every state of its life', async () => {
    const facts = newFacts(0, { metadata: { ticket: '"7"\\' }, inputsJson: '{"text":"ü \\" {,}"}' });
    const stages = [
      [startOf(facts)],
      [claim('t1')],
      [recordStep('t1', 1, 'first'), recordStep('t1', 2, 'second')],
      [ask('t1', 3, 'q_1')],
      [answer('q_1', 'digest')],
      [claim('t2')],
      [returnGrant('t2')],
      [claim('t3')],
      [cancel],
      [succeed('t3', 1)],
    ];
    let run = null;
    const statuses: string[] = [];
    for (const commands of stages) {
      run = await db.tell(run, ...commands);
      const loaded = await db.load(facts.runId);
      assert.deepEqual(withPlainBytes(loaded), withPlainBytes(run));
      statuses.push(run.status);
    }
    assert.deepEqual(statuses, [
      'queued',
      'running',
      'running',
      'waiting',
      'queued',
      'running',
      'queued',
      'running',
      'running',
      'cancelled',
    ]);
  });

  test('returns a failure, a result and their messages unchanged', async () => {
    const [lost, won] = [newFacts(0), newFacts(0, { webhookUrl: null })];
    const failed = await db.tell(null, startOf(lost), claim('t1'), {
      type: 'finish',
      token: 't1',
      seq: 1,
      outcome: { status: 'failed', error: { code: 'step_failed', kind: 'http', message: '"no"', step: 'a' } },
    });
    const succeeded = await db.tell(null, startOf(won), claim('t1'), succeed('t1', 1));
    assert.deepEqual(withPlainBytes(await db.load(lost.runId)), withPlainBytes(failed));
    assert.deepEqual(withPlainBytes(await db.load(won.runId)), withPlainBytes(succeeded));
  });

  test('queue, deadlines, steps and outbox are updated in the commit of their run', async () => {
    const facts = newFacts(1);
    let run = await db.tell(null, startOf(facts));
    assert.equal(await rowsOf('queue', facts.runId), 1);
    run = await db.tell(run, claim('t1'), recordStep('t1', 1));
    assert.deepEqual([await rowsOf('queue', facts.runId), await rowsOf('steps', facts.runId)], [0, 1]);
    run = await db.tell(run, ask('t1', 2, 'q_1'));
    assert.deepEqual([await rowsOf('deadlines', facts.runId), await rowsOf('outbox', facts.runId)], [1, 1]);
    run = await db.tell(run, answer('q_1', 'd'));
    assert.deepEqual([await rowsOf('deadlines', facts.runId), await rowsOf('queue', facts.runId)], [0, 1]);
    run = await db.tell(run, claim('t2'), giveBack('t2', 1), cancel);
    // Asked, closed and cancelled.
    assert.deepEqual([await rowsOf('queue', facts.runId), await rowsOf('outbox', facts.runId)], [0, 3]);
  });

  test('starts, updates and their side rows of many runs are one statement', async () => {
    const nowMs = await db.nowMs();
    const running = await db.tell(null, startOf(newFacts(0)), claim('t1'));
    const waiting = await db.tell(null, startOf(newFacts(1)), claim('t1'), ask('t1', 1, 'q_1'));
    const fresh = [newFacts(2), newFacts(3)];
    const batch = [
      ...fresh.map((facts) => decide(null, startOf(facts), nowMs)),
      decide(running, recordStep('t1', 1), nowMs),
      decide(waiting, answer('q_1', 'd'), nowMs),
    ];
    const { done, heldShards } = await db.store.commit(batch);
    assert.deepEqual(done, new Set(batch.map((change) => change.after.facts.runId)));
    assert.deepEqual(heldShards, new Set([0, 1, 2, 3]));
    for (const { runId } of fresh) assert.equal(await rowsOf('queue', runId), 1);
  });

  test('a start and its claim share one commit: the run was never in the queue', async () => {
    const facts = newFacts(0);
    const nowMs = await db.nowMs();
    const queued = decide(null, startOf(facts), nowMs).after;
    const change = { ...decide(queued, claim('t1'), nowMs), before: null };
    assert.deepEqual((await db.store.commit([change])).done, new Set([facts.runId]));
    assert.equal((await db.load(facts.runId))?.status, 'running');
    assert.equal(await rowsOf('queue', facts.runId), 0);
  });

  test('refuses only the shard whose epoch has changed, with all its side rows', async () => {
    const nowMs = await db.nowMs();
    const [kept, lost] = [newFacts(0), newFacts(1)];
    const running = await db.tell(null, startOf(newFacts(1)), claim('t1'));
    const { done, heldShards } = await db.store.commit([
      decide(null, startOf(kept), nowMs),
      decide(null, startOf(lost), nowMs, { epoch: EPOCH + 1 }),
      decide(running, ask('t1', 1, 'q_1'), nowMs, { epoch: EPOCH + 1 }),
    ]);
    assert.deepEqual(done, new Set([kept.runId]));
    assert.deepEqual(heldShards, new Set([0]));
    assert.equal(await db.load(lost.runId), undefined);
    assert.equal(await rowsOf('queue', lost.runId), 0);
    assert.deepEqual(withPlainBytes(await db.load(running.facts.runId)), withPlainBytes(running));
    const { runId } = running.facts;
    assert.deepEqual([await rowsOf('deadlines', runId), await rowsOf('outbox', runId)], [0, 0]);
  });

  test('refuses only the run that changed meanwhile, with all its side rows', async () => {
    const nowMs = await db.nowMs();
    const stale = await db.tell(null, startOf(newFacts(2)), claim('t1'));
    const current = await db.tell(stale, recordStep('t1', 1, 'first'));
    const other = await db.tell(null, startOf(newFacts(2)));
    const { done, heldShards } = await db.store.commit([
      decide(stale, recordStep('t1', 1, 'second'), nowMs),
      decide(other, cancel, nowMs),
    ]);
    assert.deepEqual(done, new Set([other.facts.runId]));
    assert.deepEqual(heldShards, new Set([2]));
    assert.deepEqual(
      (await db.load(current.facts.runId))?.steps.map((step) => step.path),
      ['first'],
    );
  });

  test('refuses a repeated key and keeps the first run, across batches and within one', async () => {
    const nowMs = await db.nowMs();
    const first = newFacts(0);
    const again = newFacts(1, { idempotencyHash: first.idempotencyHash });
    const third = newFacts(0, { idempotencyHash: first.idempotencyHash });
    const both = await db.store.commit([decide(null, startOf(first), nowMs), decide(null, startOf(again), nowMs)]);
    assert.equal(both.done.size, 1);
    const repeat = await db.store.commit([decide(null, startOf(third), nowMs)]);
    assert.deepEqual([repeat.done.size, repeat.heldShards.has(0)], [0, true]);
    const found = (await db.store.loadByKey([first])).get(keyText(first.orgId, first.idempotencyHash));
    assert.deepEqual(new Set([found?.facts.runId]), both.done);
    assert.equal((await rowsOf('queue', first.runId)) + (await rowsOf('queue', again.runId)), 1);
  });

  test('the same key of another organization is another key', async () => {
    const nowMs = await db.nowMs();
    const first = newFacts(0);
    const other = newFacts(0, { idempotencyHash: first.idempotencyHash, orgId: 'org_b' as const });
    const { done } = await db.store.commit([decide(null, startOf(first), nowMs), decide(null, startOf(other), nowMs)]);
    assert.equal(done.size, 2);
  });

  test("refuses an expiry before its time by the database's clock, regardless of the node’s clock", async () => {
    const waiting = await db.tell(null, startOf(newFacts(0)), claim('t1'), ask('t1', 1, 'q_1', 60_000));
    const deadlineMs = waiting.status === 'waiting' ? (waiting.question.deadlineAtMs ?? 0) : 0;
    const expiry = decide(waiting, expireQuestion('q_1'), deadlineMs, { dueMs: deadlineMs });
    assert.equal((await db.store.commit([expiry])).done.size, 0);
    assert.equal((await db.load(waiting.facts.runId))?.status, 'waiting');
    assert.equal(await rowsOf('deadlines', waiting.facts.runId), 1);
    const due = { ...expiry, dueMs: await db.nowMs() };
    assert.equal((await db.store.commit([due])).done.size, 1);
    assert.equal(await rowsOf('deadlines', waiting.facts.runId), 0);
  });

  test('a step reported twice within one commit keeps its last record and fails no other change', async () => {
    const nowMs = await db.nowMs();
    const running = await db.tell(null, startOf(newFacts(0)), claim('t1'));
    const [once, twice] = [recordStep('t1', 1, 'same'), recordStep('t1', 2, 'same')];
    const firstChange = decide(running, once, nowMs);
    const secondChange = decide(firstChange.after, { ...twice, outJson: '"last"' } as typeof twice, nowMs);
    const neighbour = newFacts(0);
    const { done } = await db.store.commit([
      {
        ...firstChange,
        after: { ...secondChange.after, revision: firstChange.after.revision },
        steps: [...firstChange.steps, ...secondChange.steps],
      },
      decide(null, startOf(neighbour), nowMs),
    ]);
    assert.deepEqual(done, new Set([running.facts.runId, neighbour.runId]));
    const { orgId, runId } = running.facts;
    assert.deepEqual(await db.store.keptSteps(orgId, runId), [
      { path: 'same', status: 'succeeded', outJson: '"last"', outWithheld: false },
    ]);
  });

  test('a value that Postgres cannot store refuses the whole statement as a data error, and none of it happens', async () => {
    const nowMs = await db.nowMs();
    const [good, bad] = [newFacts(0), newFacts(0, { inputsJson: '"\0"' })];
    const batch = [decide(null, startOf(good), nowMs), decide(null, startOf(bad), nowMs)];
    await assert.rejects(db.store.commit(batch), (error) => /^22/.test(sqlState(error) ?? ''));
    assert.equal(await db.load(good.runId), undefined);
    assert.equal((await db.store.commit(batch.slice(0, 1))).done.size, 1);
  });

  test('pages a queue oldest first, without gaps or repeats, over the given shards', async () => {
    const key = { orgId: 'org_a' as const, method: 'wf_paged' as const };
    const starts = Array.from({ length: 20 }, (_, i) =>
      newFacts(i % 2, { method: key.method, createdAtMs: 1_000 + (i >> 1) }),
    );
    await db.store.commit(starts.map((facts) => decide(null, startOf(facts), 1_000)));
    const seen: string[] = [];
    let cursor: QueueCursor = { queuedAtMs: 0, runId: '' };
    for (;;) {
      const page = await db.store.queuePage(key, cursor, [0, 1], 3);
      seen.push(...page.entries.map((entry) => entry.runId));
      if (page.end === null) break;
      cursor = page.end;
    }
    const byAge = starts.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.runId < b.runId ? -1 : 1));
    assert.deepEqual(
      seen,
      byAge.map((facts) => facts.runId),
    );
    assert.equal((await db.store.queuePage(key, { queuedAtMs: 0, runId: '' }, [1], 100)).entries.length, 10);
  });

  test('one statement reads the heads of many queues, each of the given shards', async () => {
    const of = (method: ProductionId, orgId: OrgId = 'org_a', createdAtMs = 1_000) => ({ orgId, method, createdAtMs });
    const first = newFacts(0, of('wf_first'));
    const second = newFacts(1, of('wf_second'));
    const later = newFacts(0, of('wf_first', 'org_a', 2_000));
    const others = newFacts(0, of('wf_first', 'org_b'));
    const started = [first, second, later, others];
    for (const facts of started) await db.store.commit([decide(null, startOf(facts), facts.createdAtMs)]);
    const queues = [of('wf_first'), of('wf_second'), of('wf_third'), of('wf_second', 'org_b'), of('wf_first', 'org_b')];
    const heads = async (shards: number[]) =>
      (await db.store.queueHeads(queues, shards)).map(({ entries }) => entries.map((entry) => entry.runId));
    assert.deepEqual(await heads([0]), [[first.runId], [], [], [], [others.runId]]);
    assert.deepEqual(await heads([0, 1]), [[first.runId], [second.runId], [], [], [others.runId]]);
    assert.deepEqual(await heads([2]), [[], [], [], [], []]);
  });

  test('a queue whose oldest runs are all of other shards is read in stretches', async () => {
    const key = { orgId: 'org_a' as const, method: 'wf_foreign' as const };
    const ours = newFacts(1, { ...key, createdAtMs: 90_000 });
    await db.sql`insert into scheduler.queue (run_id, org_id, method, queued_at_ms, shard)
      select 'run_' || n, 'org_a', 'wf_foreign', n, 0 from generate_series(1, 5000) n`;
    await db.store.commit([decide(null, startOf(ours), 90_000)]);
    const [head] = await db.store.queueHeads([key], [1]);
    assert.deepEqual([head?.entries.length, head?.end?.queuedAtMs], [0, 64]);
    const page = await db.store.queuePage(key, { queuedAtMs: 0, runId: '' }, [1], 256);
    assert.deepEqual([page.entries.length, page.end?.queuedAtMs], [0, 4_096]);
    const rest = await db.store.queuePage(key, page.end ?? { queuedAtMs: 0, runId: '' }, [1], 256);
    assert.deepEqual([rest.entries.map((entry) => entry.runId), rest.end], [[ours.runId], null]);
  });

  test('due questions are found by shard', async () => {
    const waiting = await db.tell(null, startOf(newFacts(3)), claim('t1'), ask('t1', 1, 'q_1', 60_000));
    const untilMs = (await db.nowMs()) + 120_000;
    assert.deepEqual(
      (await db.store.dueQuestions([3], untilMs, FIRST)).questions.map((due) => [due.runId, due.questionId]),
      [[waiting.facts.runId, 'q_1']],
    );
    assert.deepEqual(await db.store.dueQuestions([3], untilMs - 120_000, FIRST), { questions: [], end: null });
    assert.deepEqual(await db.store.dueQuestions([2], untilMs, FIRST), { questions: [], end: null });
  });

  test('many simultaneous deadlines are read in stretches, each once', async () => {
    await db.sql`insert into scheduler.deadlines (run_id, org_id, question_id, wake_at_ms, shard)
      select 'run_' || n, 'org_a', 'q_' || n, 77, n % 2 from generate_series(1, 5000) n`;
    const first = await db.store.dueQuestions([1], 78, FIRST);
    assert.ok(first.end !== null && first.questions.length > 2_000);
    const rest = await db.store.dueQuestions([1], 78, first.end);
    assert.equal(rest.end, null);
    assert.equal(new Set([...first.questions, ...rest.questions].map((due) => due.runId)).size, 2_500);
  });

  test('unfinished runs are counted by organization, with each change that happens', async () => {
    const orgId = 'org_counted';
    const count = async () => (await db.store.unfinished([orgId, 'org_none'])).get(orgId) ?? 0;
    const runs = [newFacts(0, { orgId }), newFacts(0, { orgId }), newFacts(1, { orgId })];
    const starts = runs.map((facts) => decide(null, startOf(facts), 1_000));
    await db.store.commit(starts);
    assert.equal(await count(), 3);
    // A repeated key, and a change under another revision or epoch, do not count.
    await db.store.commit([decide(null, startOf({ ...runs[0], runId: newRunId(0) } as RunFacts), 1_000)]);
    const claimed = await db.tell(starts[0]?.after ?? null, claim('t1'));
    await db.store.commit([decide(starts[0]?.after ?? null, cancel, 2_000)]);
    await db.store.commit([{ ...decide(starts[2]?.after ?? null, cancel, 2_000), epoch: 7 }]);
    assert.equal(await count(), 3);
    await db.tell(claimed, ask('t1', 1, 'q_counted', null));
    assert.equal(await count(), 3);
    await db.tell(starts[1]?.after ?? null, cancel);
    await db.tell(starts[2]?.after ?? null, claim('t2'), succeed('t2', 1));
    assert.equal(await count(), 1);
  });
});

/** Bytes from the driver are a Buffer, those of a start may be any view. */
function withPlainBytes(run: Awaited<ReturnType<TestStore['load']>>) {
  if (run === undefined) return undefined;
  const { idempotencyHash, requestDigest } = run.facts;
  return { ...run, facts: { ...run.facts, idempotencyHash: [...idempotencyHash], requestDigest: [...requestDigest] } };
}
