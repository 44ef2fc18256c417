import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { UsageError } from '../errors/command-error.ts';
import { type CommandLine, readCommandLine } from './command-line.ts';
import type { CommandHelp } from './command-words.ts';
import { describe, programTree } from './program-tree.ts';

const WORDS: CommandHelp = {
  name: 'send',
  usage: 'FILE [--to PLACE]',
  summary: 'Send a file',
  options: {
    to: { value: 'PLACE', short: 't', help: 'where' },
    tag: { value: 'TAG', many: true, help: 'a tag' },
    upload: { help: 'upload it' },
    'no-upload': { help: 'do not' },
    'dry-run': { help: 'only look' },
  },
  operands: { min: 1, max: 2, word: 'FILE' },
  examples: ['methods send a', 'methods send a --to b'],
};

function read(...line: string[]): { line: CommandLine | null; printed: string } {
  const stdout = new PassThrough();
  const streams = { stdout, stderr: new PassThrough() } as unknown as NodeJS.Process;
  const load = () => Promise.resolve(WORDS);
  const [command] = programTree([{ name: WORDS.name, summary: WORDS.summary, load }], streams).commands;
  assert.ok(command);
  describe(command, WORDS, line);
  const read = readCommandLine(command, WORDS, line);
  let printed = '';
  for (let chunk = stdout.read(); chunk !== null; chunk = stdout.read()) printed += chunk;
  return { line: read, printed };
}

function given(...words: string[]): CommandLine {
  const { line } = read(...words);
  assert.ok(line);
  return line;
}

test('options and operands are read in any order', () => {
  for (const words of [
    ['a', '--to', 'b', '--json', 'c'],
    ['--json', '--to=b', 'a', 'c'],
    ['-t', 'b', 'a', '--json', '--', 'c'],
    ['-tb', 'a', 'c', '--json'],
  ]) {
    const line = given(...words);
    assert.deepEqual(
      [line.operands, line.text('to'), line.flag('json'), line.flag('quiet')],
      [['a', 'c'], 'b', true, false],
    );
  }
  assert.deepEqual(given('--tag', 'x', 'a', '--tag=y').texts('tag'), ['x', 'y']);
  assert.deepEqual(
    [given('a').texts('tag'), given('a').text('to'), given('a').flag('dry-run')],
    [[], undefined, false],
  );
  assert.deepEqual(given('--', '--to', '-x').operands, ['--to', '-x']);
});

test('an option and its opposite are two options', () => {
  for (const [words, upload, noUpload] of [
    [[], false, false],
    [['--upload'], true, false],
    [['--no-upload'], false, true],
    [['--no-upload', '--upload'], true, true],
  ] as const) {
    const line = given('a', ...words);
    assert.deepEqual([line.flag('upload'), line.flag('no-upload')], [upload, noUpload], words.join());
  }
});

test('a wrong line is refused in a sentence with a hint', () => {
  const usage = 'usage: methods send FILE [--to PLACE]';
  const help = 'see  methods send --help';
  for (const [words, message, hint] of [
    [[], 'send needs a FILE', usage],
    [['a', 'b', 'c'], 'send does not take "c"', usage],
    [['a', '--tu', 'b'], 'send has no option --tu', 'did you mean --to?'],
    [['a', '--secrets=s3cret'], 'send has no option --secrets', help],
    [['a', '-x'], 'send has no option -x', help],
    [['a', '-qx'], 'send has no option -x', help],
    [['a', '--no-json'], 'send has no option --no-json', help],
    [['a', '--constructor'], 'send has no option --constructor', help],
    [['a', '--dry-run=1'], '--dry-run takes no value', help],
    [['a', '--to'], '--to needs a value: PLACE', help],
    [['a', '-t'], '-t needs a value: PLACE', help],
    [['a', '--to='], '--to needs a value: PLACE', help],
    [['a', '--to', '--json'], '--to needs a value: PLACE', help],
    [['a', '--to', 'b', '-t', 'c'], '--to is given twice', help],
    [['a', '--to=b', '--to=b'], '--to is given twice', help],
  ] as const) {
    assert.throws(
      () => read(...words),
      (error) => {
        assert.ok(error instanceof UsageError, words.join(' '));
        assert.deepEqual([error.message, error.hint], [message, hint]);
        return true;
      },
    );
  }
  // In one word it is a value.
  assert.equal(given('a', '--to=--json').text('to'), '--json');
});

test('with --help nothing else needs to be right', () => {
  const { line, printed } = read('--nothing', 'a', 'b', 'c', '--help');
  assert.equal(line, null);
  assert.match(
    printed,
    /^Usage: methods send FILE \[--to PLACE\]\n\nSend a file\.\n\nOptions:\n {2}-t, --to PLACE +where\n/,
  );
  assert.match(
    printed,
    /\n {2}-h, --help +show this help\n\nExamples:\n {2}methods send a\n {2}methods send a --to b\n$/,
  );
});
