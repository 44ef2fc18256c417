// What people do with questions from the command line: list, show, assign, delegate and answer them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '@methods/base/ids';
import { METHODS } from '@methods/cli/cli.fixture';
import { TerminalProcess } from '@methods/cli/terminal/terminal-process.fixture';
import type { RunBody } from '../e2e/api-client.ts';
import type { Stack } from '../e2e/stack.ts';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';
import { type StackDesk, stackDesk } from './stack-desk.ts';

interface Listed {
  readonly items: readonly { readonly id: string; readonly run_id: string; readonly prompt: string }[];
}

let stack: Stack;
let desk: StackDesk;
const methods = (...args: string[]) => desk.folder.quick(args, desk.env);
const json = async <T>(...args: string[]) => (await desk.folder.quickJson<T>(args, desk.env)).document;

before(async () => {
  stack = await commonStack();
  desk = await stackDesk(stack);
});
after(() => desk?.folder.remove());

async function asked(runId: string, prompt: string): Promise<string> {
  return until(`${runId} asks ${prompt}`, async () => {
    const { items } = await json<Listed>('inbox', '--method', 'two-questions');
    return items.find((item) => item.run_id === runId && item.prompt === prompt)?.id;
  });
}

test('questions are listed, given to people, answered, and shown with their answers', async () => {
  const { run_id: runId } = await json<RunBody>('start', stack.method('two-questions'));
  const first = await asked(runId, 'Go on?');
  const listed = await methods('inbox');
  assert.match(listed.stdout, new RegExp(`^ID +DUE +FOR +QUESTION\n[^]*${first}  - .*Go on\\?`, 'm'));

  assert.match((await methods('inbox', 'assign', first, 'me')).stdout, /is given to you\.$/m);
  assert.match((await methods('inbox', 'show', first)).stdout, /^ {2}given to Developer$/m);
  const mine = await methods('inbox', '--mine');
  assert.ok(mine.stdout.includes(first) && !mine.stdout.includes('usr_'), mine.stdout);
  assert.ok(!(await methods('inbox', 'list', '--unassigned')).stdout.includes(first));
  const given = await methods('inbox', 'assign', first, 'no-one');
  assert.match(given.stdout, /is given to no one/);
  assert.ok((await methods('inbox', '--unassigned')).stdout.includes(first));
  assert.ok(!(await methods('inbox', '--due', '1h')).stdout.includes(first));

  for (const words of [
    ['show', first],
    ['answer', first],
  ]) {
    const shown = await methods('inbox', ...words);
    assert.equal(shown.code, 4, shown.stderr);
    assert.match(shown.stdout, /\? Go on\?\n +go: /);
  }
  const wrong = await methods('inbox', 'answer', first, '--answer', '{"go": "on"}');
  assert.deepEqual([wrong.code, wrong.stdout], [1, '']);
  assert.match(wrong.stderr, new RegExp(`see its form with  methods inbox show ${first}`));
  const answered = await methods('inbox', 'answer', first, '--answer', '{"go": true}', '--comment', 'As agreed.');
  assert.equal(answered.code, 0, answered.stderr);
  assert.match(answered.stdout, new RegExp(`methods runs watch ${runId}`));
  const shown = await methods('inbox', 'show', first);
  assert.equal(shown.code, 0);
  assert.match(shown.stdout, /answered by .* on the command line, .*{"go":true}\n +As agreed\./);
  const late = await methods('inbox', 'answer', first, '--answer', '{"go": false}');
  assert.equal(late.code, 1);
  assert.match(late.stderr, /the question is closed: it was answered/);

  const second = await asked(runId, 'Really?');
  for (const who of ['ann@nowhere.example', newId('usr')]) {
    const refused = await methods('inbox', 'delegate', second, who);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /No member of the organization has this id or verified address/);
  }
  const run = await json<RunBody>('inbox', 'answer', second, '--answer', '{"go": false}');
  assert.equal(run.run_id, runId);
  const left = await json<Listed>('inbox', '--answer-by', 'all', '--method', 'two-questions');
  assert.ok(!left.items.some((item) => item.run_id === runId));
});

test('a question for others says so in the list, and before its form is shown', async () => {
  const { run_id: runId } = await json<RunBody>('start', stack.method('agree'), '--inputs', '{"amount": 9}');
  const id = await until('it asks', async () => {
    const { items } = await json<Listed>('inbox', '--method', 'agree');
    return items.find((item) => item.run_id === runId)?.id;
  });
  assert.match((await methods('inbox')).stdout, new RegExp(`^${id} .*\\(for others\\) \\[0 of 2\\] `, 'm'));
  const shown = await methods('inbox', 'show', id);
  assert.match(shown.stdout, /^ {2}you may not answer it: it is for other people$/m);
  const refused = await methods('inbox', 'answer', id, '--answer', '{"decision": "approve"}');
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  const env = { HOME: desk.folder.dir, ...desk.env };
  for (const words of [
    ['answer', runId],
    ['inbox', 'answer', id],
  ]) {
    const terminal = new TerminalProcess(process.execPath, [METHODS, ...words], { cwd: desk.folder.dir, env });
    await terminal.shows('you may not answer it: it is for other people');
    assert.equal(await terminal.exited, 1);
  }
  assert.equal((await methods('runs', 'cancel', runId)).code, 0);
});

test('a command line that no question can be meant by is refused', async () => {
  const id = newId('q');
  const refused: [args: string[], message: RegExp][] = [
    [['open'], /inbox cannot "open"/],
    [['show'], /inbox show needs a QUESTION_ID/],
    [['show', 'run_1'], /"run_1" is not a question id/],
    [['list', id], /inbox list does not take/],
    [['show', id, 'me'], /inbox show does not take "me"/],
    [['assign', id], /inbox assign needs a person/],
    [['show', id, '--mine'], /inbox show has no option --mine/],
    [['--mine', '--unassigned'], /give one of --mine/],
    [['--due', 'soon'], /--due cannot be "soon"/],
    [['--answer-by', 'me'], /--answer-by cannot be "me"/],
    [['answer', id, '--answer', '{}', '--comment', 'x'.repeat(2_001)], /at most 2000 characters/],
  ];
  for (const [args, message] of refused) {
    const { code, stdout, stderr } = await methods('inbox', ...args);
    assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, message);
  }
  const missing = await methods('inbox', 'show', id);
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /There is no such question/);
});
