// Shows that a refused request left no trace: neither a new run nor a changed one.
import assert from 'node:assert/strict';
import type { Stack } from './stack.ts';

/** Every change of a run counts its revision up. Only for moments at which no run is on its way. */
export async function leavesRunsUnchanged<T>(stack: Stack, request: () => Promise<T>): Promise<T> {
  const before = await runsOf(stack);
  const reply = await request();
  assert.deepEqual(await runsOf(stack), before, 'a refused request changed something');
  return reply;
}

async function runsOf({ sql }: Stack) {
  const [row] = await sql<{ runs: string; revisions: string }[]>`
    select count(*) as runs, coalesce(sum(revision), 0) as revisions from scheduler.runs`;
  return { ...row };
}
