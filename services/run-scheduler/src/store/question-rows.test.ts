import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { answerersOf } from '../run/answerers.ts';
import { openQuestionOf } from '../run/question.ts';
import { answer, ask, cancel, claim, expireQuestion, person } from '../run/run.fixture.ts';
import type { OpenQuestion, Run } from '../run/run.ts';
import type { RunCommand } from '../run/run-command.ts';
import { answerersOfRow, questionColumns, questionRowsOf } from './question-rows.ts';
import { decide, newFacts, startOf, TestStore } from './run-store.fixture.ts';

let db: TestStore;
before(async () => {
  db = await TestStore.open();
});
after(() => db.close());

async function asked(question: Partial<RunCommand & { type: 'ask' }> = {}): Promise<Run> {
  const facts = newFacts(0);
  const asking = ask('t1', 1, `q_${facts.runId}`, 60_000) as RunCommand & { type: 'ask' };
  return db.tell(null, startOf(facts), claim('t1'), { ...asking, ...question });
}

async function rowOf({ facts }: Run) {
  const [row] = await db.sql`
    select prompt, state, assignee, votes, closed_at_ms is not null as closed, question_json is not null as kept, receipt_json,
      answer_json from scheduler.questions where run_id = ${facts.runId} and org_id = ${facts.orgId}`;
  return row ?? assert.fail('no row');
}

test('a question has a row from its commit on, which is updated and stays readable after its answer', async () => {
  const run = await asked({ prompt: 'Pay?', formSha256: 'f0' });
  const open = { prompt: 'Pay?', state: 'open', assignee: '', votes: 0, closed: false, kept: false };
  assert.deepEqual(await rowOf(run), { ...open, receipt_json: null, answer_json: null });
  const questionId = `q_${run.facts.runId}` as const;
  const assigned = await db.tell(run, {
    type: 'assign_question',
    questionId,
    by: person('ann'),
    assignee: person('ben'),
  });
  assert.equal((await rowOf(run)).assignee, 'usr_ben');
  await db.tell(assigned, { ...answer(questionId, 'd'), by: person('ben'), channel: 'inbox', comment: 'ok' });
  const { receipt_json: json, answer_json: given, ...row } = await rowOf(run);
  assert.deepEqual(row, { ...open, state: 'answered', assignee: 'usr_ben', closed: true, kept: true });
  const { by, comment, formSha256 } = JSON.parse(json);
  assert.deepEqual([by.name, comment, formSha256, given], ['ben', 'ok', 'f0', '{"digest":"d"}']);
});

test('its row shows how a question ended without an answer', async () => {
  const cancelled = await asked();
  await db.tell(cancelled, cancel);
  assert.equal((await rowOf(cancelled)).state, 'cancelled');
  const expired = await asked();
  const change = decide(expired, expireQuestion(`q_${expired.facts.runId}`), (await db.nowMs()) + 120_000);
  assert.equal((await db.store.commit([change])).done.size, 1);
  assert.equal((await rowOf(expired)).state, 'expired');
});

test('a prompt with characters that Postgres cannot store is asked, and listed without them', async () => {
  const run = await asked({ prompt: 'a\0b\ud800' });
  assert.equal((await rowOf(run)).prompt, 'a\ufffdb\ufffd');
  assert.deepEqual((await db.load(run.facts.runId))?.status, 'waiting');
});

test('the questions of an earlier release are listed after the upgrade, and one that JSON functions refuse when it changes', async () => {
  const [plain, odd] = [await asked({ prompt: 'Plain?' }), await asked({ prompt: 'odd \0 \ud800' })];
  await db.sql`delete from scheduler.questions`;
  const file = new URL('../../migrations/0014.do.open-questions.sql', import.meta.url);
  for (let times = 0; times < 2; times++) await db.sql.unsafe(await readFile(file, 'utf8'));
  assert.deepEqual((await rowOf(plain)).prompt, 'Plain?');
  assert.equal((await db.sql`select from scheduler.questions`).length, 1);
  await db.tell(odd, { ...answer(`q_${odd.facts.runId}`, 'd'), by: person('ben') });
  assert.equal((await rowOf(odd)).state, 'answered');
});

test('an open row keeps who may answer, as the run decides it', async () => {
  const [ann, starter] = [person('ann'), person('starter')];
  const rules = { to: ['ann@example.com'], notStarter: true, needs: { count: 2, on: [] } };
  const escalate = { afterMs: 1, to: ['viewer'] };
  const policy = { ...rules, remindMs: [], escalate, timeoutAnswerJson: null };
  const before = await asked();
  const question = openQuestionOf(before) ?? assert.fail();
  const delegation = { from: ann, to: person('eve', 'viewer'), atMs: 1 };
  const vote = { by: { ...ann, linkRecipient: ann.email }, answerJson: '{}', atMs: 1, channel: null, comment: '' };
  for (const more of [
    {},
    { policy },
    { policy: { ...policy, ...{ to: [], notStarter: false, needs: null } }, escalatedAtMs: 1 },
    { delegations: [delegation] },
    { policy, delegations: [delegation], escalatedAtMs: 1, votes: [vote] },
  ] satisfies Partial<OpenQuestion>[]) {
    const after = { ...before, facts: { ...before.facts, starter }, question: { ...question, ...more } } as Run;
    const [row = assert.fail()] = questionRowsOf({ before: null, after, epoch: 1, effects: [] } as never);
    const column = (name: string) => questionColumns.find((each) => each.name === name)?.value(row) as string | null;
    const kept = { people_json: column('people_json'), answerers_json: column('answerers_json') };
    assert.deepEqual(answerersOfRow(kept), answerersOf(after.facts, openQuestionOf(after) ?? assert.fail()));
  }
});
