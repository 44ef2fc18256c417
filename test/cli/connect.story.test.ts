// An app is connected with a method: what is said, what is written where, and that the code which is printed works.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseEnv, promisify } from 'node:util';
import { ended, METHODS, printed } from '@methods/cli/cli.fixture';
import { TerminalProcess } from '@methods/cli/terminal/terminal-process.fixture';
import type { Stack } from '../e2e/stack.ts';
import { commonStack } from './common-stack.ts';
import { type StackDesk, stackDesk } from './stack-desk.ts';

const METHOD = `format: method/2
name: greet-customer
title: Greet a customer
inputs:
  name: { $type: string 1..80, $examples: [Ada] }
  polite?: boolean
secrets: [GREETING_TOKEN]
steps:
  - name: compose
    in: [inputs.name]
    secrets: [GREETING_TOKEN]
    node: |
      return { text: 'Hello ' + name, known: process.env.GREETING_TOKEN.length }
    out: { text: string, known: integer }
result: { greeting: =steps.compose.text }
`;

const run = promisify(execFile);
let stack: Stack;
let desk: StackDesk;
const path = (...names: string[]) => join(desk.folder.dir, ...names);
const text = (...names: string[]) => readFile(path(...names), 'utf8');
const methods = (...args: string[]) => desk.folder.quick(args, desk.env);

async function app(name: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, content] of Object.entries(files)) {
    await mkdir(dirname(path(name, file)), { recursive: true });
    await writeFile(path(name, file), content);
  }
}

async function keys(): Promise<string[]> {
  const { document } = await desk.folder.quickJson<{ items: { name: string; revoked_at: string | null }[] }>(
    ['keys', 'list'],
    desk.env,
  );
  return document.items.filter((key) => key.revoked_at === null).map((key) => key.name);
}

before(async () => {
  stack = await commonStack();
  desk = await stackDesk(stack);
  await desk.folder.write('greet.method', METHOD);
  await run('git', ['init', '--quiet', desk.folder.dir]);
  await desk.folder.write('.gitignore', 'node_modules');
});
after(async () => {
  await desk?.folder.remove();
});

test('an app of Node gets a key, the published method and code that works', async (t) => {
  const env = `# the shop's own\r\nSHOP="a b" # kept\r\nNAME='it # is'`;
  await app('apps/shop', { 'package.json': '{}', '.env': env });
  const { code, stdout, stderr } = await methods('connect', 'apps/shop');
  assert.deepEqual([code, stderr], [0, '']);
  const [, version, id] = /^Published (ver_\w{26}) of Greet a customer \((wf_\w{26})\)\.\n/.exec(stdout) ?? [];
  const [, keyId] = /\((key_\w{26})\)/.exec(stdout) ?? [];
  const [before, source = '', behind] = stdout.split(/^(?=async function)|(?<=run\.result\)\);\n)/m);
  assert.equal(
    before,
    `Published ${version} of Greet a customer (${id}).
Added .env to .gitignore.
Made the key "shop" (${keyId}) and wrote SERVICE_API_KEY to apps/shop/.env. It is not shown.

Install: nothing. The code uses the HTTP client of the language.

Node 20 or later, started with  node --env-file=.env FILE:

`,
  );
  assert.equal(
    behind,
    `
A worker runs it:  methods worker --method ${id}
Secrets to set where the worker runs: GREETING_TOKEN
`,
  );
  assert.match(source, /startGreetCustomer\(\{ name: "Ada" \}\)\.then/);
  const written = await text('apps', 'shop', '.env');
  const key = parseEnv(written).SERVICE_API_KEY ?? '';
  assert.match(key, /^sk_\w{43}_\w{49}$/);
  assert.equal(written, `${env}\r\nSERVICE_API_KEY=${key}\r\n`);
  assert.equal(stdout.includes(key.slice(3, 40)), false);
  assert.equal(stdout.includes('whsec_'), false);
  assert.equal(await text('.gitignore'), 'node_modules\n.env\n');

  // The worker as the command says to start it, with the app's key.
  const [, ...words] = /^A worker runs it: {2}methods (.+)$/m.exec(stdout)?.[1]?.split(' ') ?? [];
  const worker = desk.folder.spawn(['worker', ...words], {
    ...desk.env,
    SERVICE_API_KEY: key,
    GREETING_TOKEN: 'made-up-token',
  });
  const workerEnd = ended(worker);
  t.after(async () => {
    worker.kill();
    await workerEnd;
  });
  await printed(worker, 'Ready');
  await writeFile(path('apps', 'shop', 'app.js'), source);
  const node = await run(process.execPath, ['--env-file=.env', 'app.js'], { cwd: path('apps', 'shop') });
  assert.equal(node.stdout, "succeeded { greeting: 'Hello Ada' }\n");

  // The same for Python, which finds the method published and the key of its own.
  await app('apps/bill', { 'pyproject.toml': '' });
  const python = await methods('connect', 'apps/bill', '--quiet');
  assert.match(python.stdout, /^import json\n/);
  await writeFile(path('apps', 'bill', 'app.py'), python.stdout);
  const python3 = await run('sh', ['-c', 'set -a; . ./.env; set +a; python3 app.py'], { cwd: path('apps', 'bill') });
  assert.equal(python3.stdout, "succeeded {'greeting': 'Hello Ada'}\n");
  assert.equal((await stat(path('apps', 'bill', '.env'))).mode & 0o777, 0o600);
  assert.equal(await text('.gitignore'), 'node_modules\n.env\n');
});

test('a repeat changes nothing and says so', async () => {
  await app('apps/again', { 'package.json': '{}' });
  await methods('connect', 'apps/again');
  const before = [await text('apps', 'again', '.env'), await text('.gitignore'), (await keys()).length];
  const { code, stdout } = await methods('connect', 'apps/again');
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^ver_\w+ of Greet a customer \(wf_\w+\) is published\.\napps\/again\/\.env already has SERVICE_API_KEY; it is unchanged\. A new key in its place: {2}--replace\n\nInstall/,
  );
  assert.deepEqual([await text('apps', 'again', '.env'), await text('.gitignore'), (await keys()).length], before);
  interface Document {
    readonly key: { readonly name: string } | null;
    readonly install: null;
    readonly secrets: readonly string[];
    readonly code: readonly { readonly language: string }[];
  }
  const { document } = await desk.folder.quickJson<Document>(['connect', 'apps/again', '--replace'], desk.env);
  assert.deepEqual([document.key?.name, document.install, document.secrets], ['again', null, ['GREETING_TOKEN']]);
  assert.deepEqual(
    document.code.map(({ language }) => language),
    ['node'],
  );
  const after = await text('apps', 'again', '.env');
  assert.notEqual(after, before[0]);
  assert.match(after, /^SERVICE_API_KEY=sk_\w+\n$/);
});

test('what cannot be connected is refused before a key is made', async () => {
  await app('apps/none', { 'setup.py': '' });
  await app('apps/plain', { file: '' });
  await mkdir(path('apps', 'blocked', '.env'), { recursive: true });
  const before = await keys();
  for (const [args, code, words] of [
    [['apps/missing'], 1, /^error: there is no folder apps\/missing\n/],
    [['apps/plain/file'], 1, /^error: apps\/plain\/file is not a folder\n/],
    [['apps/none', '--method', 'absent.method'], 1, /^error: cannot read absent\.method: there is no such file\n/],
    [['apps/blocked'], 1, /^error: cannot read \S+apps\/blocked\/\.env: it is a folder\n/],
  ] as const) {
    const end = await methods('connect', ...args);
    assert.deepEqual([end.code, end.stdout], [code, '']);
    assert.match(end.stderr, words);
  }
  await desk.folder.write('other.method', METHOD);
  const two = await methods('connect', 'apps/none');
  assert.equal(two.code, 2);
  assert.match(two.stderr, /^error: there are 2 method files, and one is needed\nhint: --method greet\.method\n/);
  assert.deepEqual(await keys(), before);
});

for (const [answer, word, changed] of [
  ['yes', 'gives its place to a new one', true],
  ['no', 'stays', false],
] as const) {
  test(`on a terminal an older key is asked about, and with ${answer} it ${word}`, async (t) => {
    await app(`apps/${answer}`, { 'package.json': '{}', '.env': 'SERVICE_API_KEY="old"\nB=1\n' });
    const args = [METHODS, 'connect', `apps/${answer}`, '--method', 'greet.method'];
    const env = { ...desk.env, HOME: desk.folder.dir };
    const terminal = new TerminalProcess(process.execPath, args, { cwd: desk.folder.dir, env });
    t.after(() => terminal.stop());
    await terminal.shows(`apps/${answer}/.env has SERVICE_API_KEY already. Put a new key in its place? (y/N)`);
    terminal.type(`${answer}\r`);
    assert.equal(await terminal.exited, 0);
    const written = await text('apps', answer, '.env');
    assert.match(written, changed ? /^SERVICE_API_KEY=sk_\w+\nB=1\n$/ : /^SERVICE_API_KEY="old"\nB=1\n$/);
  });
}
