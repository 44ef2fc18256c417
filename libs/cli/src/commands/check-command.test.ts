import { deepEqual, equal, match } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { CliFolder } from '../cli.fixture.ts';
import { COMMANDS } from '../commands.ts';

const GOOD = `format: method/2
name: good
inputs: { amount: number }
steps:
  - name: sums
    in: [inputs.amount]
    node: "return { n: amount + 1 }"
    out: { n: number }
result: { n: =steps.sums.n }
`;
const BAD = GOOD.replace('[inputs.amount]', '[inputs.amout]');
const WARNED = GOOD.replace('name: good', 'name: good\nsecrets: [NEVER_USED]');
const CALLER = `format: method/2
name: caller
steps:
  - name: inner
    call: ./good.method
    in: { amount: text }
`;

const folder = await CliFolder.make({
  'good.method': GOOD,
  'bad.method': BAD,
  'warned.method': WARNED,
  'caller.method': CALLER,
});
after(() => folder.remove());

test('a method without faults is ok', async () => {
  deepEqual(await folder.methods(['check', 'good.method']), { code: 0, stdout: 'good.method: ok\n', stderr: '' });
});

test('a fault is shown with its place, carets and a hint, and the exit code is 1', async () => {
  const { code, stdout } = await folder.methods(['check', 'good.method', 'bad.method']);
  equal(code, 1);
  match(stdout, /bad\.method:6:\d+ error M202 .*\n.*amout.*\n.*\^\^\^\^\^\n/);
  match(stdout, /did you mean "amount"\?/);
  match(stdout, /good\.method: ok\n/);
});

test('only warnings give 0, and 3 with --strict', async () => {
  equal((await folder.methods(['check', 'warned.method'])).code, 0);
  const { code, stdout } = await folder.methods(['check', 'warned.method', '--strict']);
  equal(code, 3);
  match(stdout, /warning M605/);
});

test('with --json every file has its diagnostics', async () => {
  const { code, document } = await folder.json<{
    ok: boolean;
    files: { file: string; ok: boolean; diagnostics: { code: string }[] }[];
  }>(['check', 'good.method', 'bad.method']);
  equal(code, 1);
  equal(document.ok, false);
  deepEqual(
    document.files.map(({ file, ok, diagnostics }) => [file, ok, diagnostics.map((found) => found.code)]),
    [
      ['good.method', true, []],
      ['bad.method', false, ['M202']],
    ],
  );
});

test('a call of a file is checked against that file', async () => {
  const { code, stdout } = await folder.methods(['check', 'caller.method']);
  equal(code, 1);
  match(stdout, /error M516/);
});

test('the version is that of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  for (const word of ['--version', '-V']) {
    deepEqual(await folder.methods([word]), { code: 0, stdout: `${version}\n`, stderr: '' });
  }
  deepEqual(JSON.parse((await folder.methods(['--version', '--json'])).stdout), { version });
});

test('wrong usage gives 2 and a hint, a missing file 1', async () => {
  for (const [args, code, words] of [
    [['chek'], 2, /"chek" is not a command\nhint: did you mean "check"\?/],
    [['check'], 2, /check needs a FILE\nhint: usage: methods check/],
    [['check', '--stict', 'good.method'], 2, /check has no option --stict\nhint: did you mean --strict\?/],
    [['runs'], 2, /runs needs one of list, show, watch, cancel or rerun\nhint: usage: methods runs list/],
    [['check', 'none.method'], 1, /cannot read none\.method: there is no such file/],
  ] as const) {
    const end = await folder.methods(args);
    equal(end.code, code);
    match(end.stderr, words);
  }
});

test('errors are one JSON document on stderr with --json', async () => {
  const { code, stdout, stderr } = await folder.methods(['check', 'none.method', '--json']);
  deepEqual([code, stdout], [1, '']);
  deepEqual(JSON.parse(stderr), {
    error: 'not_found',
    message: 'cannot read none.method: there is no such file',
    hint: 'is it the right name, and this the right folder?',
  });
});

test('an error says what to do, also where it is no more than the help', async () => {
  for (const [args, hint] of [
    [['check', 'none.method'], /^hint: is it the right name/m],
    [['new', 'good'], /^hint: check what is there/m],
    [['worker', '--method', 'x', '--concurrency', '0'], /^hint: see {2}methods worker --help$/m],
  ] as const) {
    const { stderr } = await folder.methods(args);
    match(stderr, /^error: .+$/m);
    match(stderr, hint);
  }
});

test('every command has a help with two examples', async () => {
  const help = await folder.methods(['--help']);
  const names = [...help.stdout.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, name = '']) => name);
  deepEqual(
    names,
    COMMANDS.map(({ name }) => name),
  );
  for (const name of names) {
    const { code, stdout } = await folder.methods([name, '--help']);
    equal(code, 0);
    match(stdout, new RegExp(`Examples:\\n {2}.*methods ${name}.*\\n {2}.*methods ${name}.*\\n$`));
  }
});

test('code that does not parse has its line and column, in every language; nothing else takes it', async () => {
  const unread = await CliFolder.make({
    'py.method': GOOD.replace(/node: .*/, 'python: |\n      total = amount\n      return {"n": total +}'),
    'sh.method': GOOD.replace(/node: .*/, 'shell: |\n      step out n 1\n      fi'),
    'js.method': GOOD.replace(/node: .*/, 'node: |\n      const n = amount\n      return { n: n + }'),
  });
  const places: string[] = [];
  for (const name of ['py', 'sh', 'js']) {
    const { code, stdout } = await unread.methods(['check', `${name}.method`]);
    equal(code, 1, stdout);
    places.push(/\w+\.method:\d+:\d+ error M114/.exec(stdout)?.[0] ?? stdout);
  }
  deepEqual(places, ['py.method:9:27 error M114', 'sh.method:9:7 error M114', 'js.method:9:23 error M114']);
  for (const name of ['py', 'sh', 'js']) {
    const { code, stderr } = await unread.methods(['run', `${name}.method`, '--inputs', '{"amount":1}']);
    equal(code, 1);
    match(stderr, /does not parse/);
  }
  const tested = `${await unread.read('py.method')}tests:\n  - { name: one, inputs: { amount: 1 }, mock: { sums: { n: 2 } } }\n`;
  await unread.write('tested.method', tested);
  const { code, stderr } = await unread.methods(['test', 'tested.method']);
  equal(code, 1);
  match(stderr, /does not parse/);
  // Without the interpreter it is left to the machine that runs it; node code needs none.
  for (const [name, expected] of [
    ['py', 0],
    ['sh', 0],
    ['js', 1],
  ] as const) {
    equal((await unread.methods(['check', `${name}.method`], { PATH: '/nowhere' })).code, expected, name);
  }
  await unread.remove();
});
