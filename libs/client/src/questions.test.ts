import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '@methods/test/harness/until';
import { ConflictError, ConnectionError, InvalidRequestError } from './errors.ts';
import { type AnyAsked, type AnyOnAsk, Asking } from './questions.ts';
import type { Question, Run } from './run.ts';

const misfit = new InvalidRequestError('invalid_answer', 'No.', {
  details: [{ path: '/go', code: 'type', message: 'No.' }],
});
const waiting = (id: string) =>
  ({ run_id: 'run_1', status: 'waiting', question: { id, step: 'first', form: {} } }) as unknown as Run;

/** `refusals`: of the answers, in their order. */
function asking(onAsk: AnyOnAsk, refusals: readonly (Error | undefined)[] = [], signal?: AbortSignal) {
  const answers: [string, object, string][] = [];
  const reported: [unknown, AnyAsked][] = [];
  const lines: string[] = [];
  const give = async ({ run_id: runId }: Run, questionId: string, value: object) => {
    const refusal = refusals[answers.length];
    answers.push([runId, value, questionId]);
    if (refusal !== undefined) throw refusal;
    return {} as Run;
  };
  const onError = (error: unknown, asked: AnyAsked) => void reported.push([error, asked]);
  const log = (line: string) => void lines.push(line);
  const content = { questionOf: async (_run: Run, question: Question) => ({ question, problems: [] }) };
  return { asking: new Asking({ answers: { give }, content, onAsk, onError, log, signal }), answers, reported, lines };
}

test('a question is asked once, however often the run is seen with it', async () => {
  const { asking: asks, answers } = asking(({ question }) => ({ of: question.id }));
  for (const id of ['q_1', 'q_1', 'q_2', 'q_1']) asks.ask(waiting(id));
  await until('both are answered', () => answers.length === 2);
  assert.deepEqual(answers, [
    ['run_1', { of: 'q_1' }, 'q_1'],
    ['run_1', { of: 'q_2' }, 'q_2'],
  ]);
});

test('answers that never fit are given up, and reported with their reasons', async () => {
  const seen: number[] = [];
  const { asking: asks, reported } = asking(({ problems }) => {
    seen.push(problems.length);
    return {};
  }, new Array(20).fill(misfit));
  asks.ask(waiting('q_1'));
  await until('it is reported', () => reported.length === 1);
  assert.deepEqual(seen, [0, ...new Array(9).fill(1)]);
  assert.deepEqual(Object(reported[0]?.[0]).details, misfit.details);
});

test('a closed question is no fault of the handler, and a lost connection is reported', async () => {
  const closed = asking(() => ({}), [new ConflictError('question_changed', 'No.')]);
  closed.asking.ask(waiting('q_1'));
  await until('it is logged', () => closed.lines.length === 1);
  assert.deepEqual(closed.reported, []);
  const lost = asking(() => ({}), [new ConnectionError('unreachable', 'No.')]);
  lost.asking.ask(waiting('q_1'));
  await until('it is reported', () => lost.reported.length === 1);
  assert.deepEqual(lost.lines, ['question q_1 of run_1 was not answered: unreachable']);
});

test('what a handler throws is reported and not logged, unless its caller has left', async () => {
  const failing = asking(async () => {
    throw new Error('the secret of Ada');
  });
  failing.asking.ask(waiting('q_1'));
  await until('it is reported', () => failing.reported.length === 1);
  assert.ok(!failing.lines.join().includes('Ada'));
  const left = new AbortController();
  let calls = 0;
  const leaving = asking(
    async () => {
      calls++;
      left.abort();
      throw new Error('too late');
    },
    [],
    left.signal,
  );
  leaving.asking.ask(waiting('q_1'));
  await until('the handler was called', () => calls === 1);
  assert.deepEqual([leaving.reported, leaving.lines], [[], []]);
});
