// Changes of many runs at once that use every section of the commit statement, and the repeated tasks of a node.
import { silentLogger } from '@methods/logging/logger';
import type { Sql } from '@methods/postgres/pool';
import { answer, ask, claim, recordStep, succeed } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import type { RunCommand } from '../run/run-command.ts';
import { OpenQuestionSweep } from './open-question-sweep.ts';
import { RetiredIndex } from './retired-index.ts';
import { decide, newFacts, startOf } from './run-store.fixture.ts';
import type { RunChange } from './run-store.ts';
import { UnrecordedAnswers } from './unrecorded-answers.ts';

/** Returns batches in their order. */
export function changesOfALife(nowMs: number, count: number): RunChange[][] {
  const facts = Array.from({ length: count }, (_, i) => newFacts(i % 4, { createdAtMs: nowMs }));
  const batches: RunChange[][] = [];
  let runs: (Run | null)[] = facts.map(() => null);
  const tell = (command: (i: number) => RunCommand) => {
    const batch = runs.map((run, i) => decide(run, command(i), nowMs));
    runs = batch.map((change) => change.after);
    batches.push(batch);
  };
  const questionOf = (i: number) => `q_${facts[i]?.runId}` as const;
  tell((i) => startOf(facts[i] as (typeof facts)[number]));
  tell(() => claim('t1'));
  tell(() => recordStep('t1', 1));
  tell((i) => ask('t1', 2, questionOf(i), 60_000));
  tell((i) => answer(questionOf(i), 'd'));
  tell(() => claim('t2'));
  tell(() => succeed('t2', 1));
  return batches;
}

export async function upkeep(sql: Sql): Promise<void> {
  const parts = { sql, isMine: () => true, logger: silentLogger };
  const questions = new OpenQuestionSweep(parts);
  for (let page = 0; page < 3; page++) await questions.look();
  await new RetiredIndex(parts).look();
  const unrecorded = new UnrecordedAnswers({ sql, deadlineMs: 60_000 });
  await unrecorded.recorded(await unrecorded.left(5_000, 256));
}
