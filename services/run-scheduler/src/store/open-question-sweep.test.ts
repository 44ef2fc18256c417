import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { silentLogger } from '@methods/logging/logger';
import { answer, ask, cancel, claim } from '../run/run.fixture.ts';
import type { RunCommand } from '../run/run-command.ts';
import { OpenQuestionSweep } from './open-question-sweep.ts';
import { newFacts, startOf, TestStore } from './run-store.fixture.ts';

let db: TestStore;
before(async () => {
  db = await TestStore.open();
});
after(() => db.close());

/** Stores a run that asked as a node of the previous release does: without a change of the question's row. */
async function left(...commands: readonly RunCommand[]): Promise<string> {
  const facts = newFacts(0);
  const questionId = `q_${facts.runId}` as const;
  const asked = await db.tell(null, startOf(facts), claim('t1'), ask('t1', 1, questionId, null));
  const [row] = await db.sql`select * from scheduler.questions where question_id = ${questionId}`;
  let run = asked;
  for (const command of commands) {
    const named = command.type === 'answer' ? { ...command, questionId } : command;
    run = await db.tell(run, named);
  }
  await db.sql`delete from scheduler.questions where question_id = ${questionId}`;
  await db.sql`insert into scheduler.questions ${db.sql(row as Record<string, string>)}`;
  return questionId;
}

test('the rows of questions that an earlier node ended are closed by the state of their runs; open ones stay', async () => {
  const open = await left();
  const answered = await left(answer(null, 'd'));
  const cancelled = await left(cancel);
  const next = await left(answer(null, 'd'), claim('t2'), ask('t2', 1, 'q_next', null));
  let isMine = false;
  const sweep = new OpenQuestionSweep({ sql: db.sql, isMine: () => isMine, logger: silentLogger });
  const states = async () => {
    await sweep.look();
    const rows = await db.sql<{ question_id: string; state: string; closed: boolean }[]>`
      select question_id, state, closed_at_ms is not null as closed from scheduler.questions`;
    return [open, answered, cancelled, next].map((id) => {
      const row = rows.find(({ question_id }) => question_id === id);
      return `${row?.state} ${row?.closed}`;
    });
  };
  assert.deepEqual(await states(), ['open false', 'open false', 'open false', 'open false']);
  isMine = true;
  const expected = ['open false', 'answered true', 'cancelled true', 'answered true'];
  assert.deepEqual(await states(), expected);
  assert.deepEqual(await states(), expected);
});
