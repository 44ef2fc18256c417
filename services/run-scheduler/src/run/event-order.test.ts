import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EarlierEvent } from './decision.ts';
import { answer, ask, cancel, claim, runs, succeed } from './run.fixture.ts';
import type { Run } from './run.ts';
import type { RunCommand } from './run-command.ts';
import { transition } from './transition.ts';

/** Returns each event of the run with the one that it follows; ends of questions come in between. */
function eventsOf(commands: readonly RunCommand[]): [seq: number, follows: number | null][] {
  let run: Run = runs.queued;
  const events: [number, number | null][] = [];
  for (const [i, command] of commands.entries()) {
    const decision = transition(run, command, 2_000_000 + i);
    if (decision.kind !== 'changed') throw new Error(`${command.type} changes nothing`);
    run = { ...decision.run, revision: run.revision + 1 };
    for (const effect of decision.effects) {
      if (effect.type === 'emit' && effect.event !== 'question.closed')
        events.push([run.revision, seqOf(effect.follows)]);
    }
  }
  return events;
}

function seqOf(earlier: EarlierEvent | null): number | null {
  return earlier?.seq ?? null;
}

const first = runs.queued.revision;
const asked = first + 2;
const oneQuestion = [claim('t1'), ask('t1', 1, 'q_1')];
const secondQuestion = [...oneQuestion, answer('q_1', 'd1'), claim('t2'), ask('t2', 1, 'q_2')];

test('a question follows the question before it, and the end follows the last question', () => {
  const commands = [...secondQuestion, answer('q_2', 'd2'), claim('t3'), succeed('t3', 1)];
  assert.deepEqual(eventsOf(commands), [
    [asked, null],
    [asked + 3, asked],
    [asked + 6, asked + 3],
  ]);
});

test('the end of a waiting run follows its open question', () => {
  assert.deepEqual(eventsOf([...oneQuestion, cancel]), [
    [asked, null],
    [asked + 1, asked],
  ]);
});
