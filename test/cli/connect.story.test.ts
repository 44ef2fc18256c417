// An app is connected with a method: what is said, what is written where, and that the code which is printed works.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseEnv, promisify } from 'node:util';
import { METHODS } from '@methods/cli/cli.fixture';
import { TerminalProcess } from '@methods/cli/terminal/terminal-process.fixture';
import { PIP_CACHE_DIR } from '../e2e/python-environment.ts';
import type { Stack } from '../e2e/stack.ts';
import { until } from '../harness/until.ts';
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
let stdoutOfBill = '';
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

/** What the command says to do, word for word. */
function saidToDo(stdout: string, language: string): { install: string; file: string; code: string; start: string } {
  const text = stdout.slice(stdout.search(new RegExp(`^${language} \\S+ or later\\. Install:$`, 'm')));
  const found = /^ {2}(\S.*)\n\n\(sha256 [0-9a-f]{64}\)\nSave as (\S+):\n\n([\s\S]*?)\nStart: {2}(.+)$/m.exec(text);
  const [, install = '', file = '', code = '', start = ''] = found ?? assert.fail(stdout);
  return { install, file, code, start };
}

async function followed(folder: string, stdout: string, language: string): Promise<string> {
  const { install, file, code, start } = saidToDo(stdout, language);
  const { PATH } = process.env;
  const quiet = { npm_config_audit: 'false', npm_config_fund: 'false', PIP_CACHE_DIR };
  const env = { ...quiet, PATH, HOME: desk.folder.dir, GREETING_TOKEN: 'made-up-token' };
  const options = { cwd: path(folder), env };
  await run('sh', ['-c', install], options);
  await writeFile(path(folder, file), code);
  return (await run('sh', ['-c', start], options)).stdout;
}

test('an app of Node gets a key, the published method, and commands that lead to an ended run', async () => {
  const env = `# the shop's own\r\nSHOP="a b" # kept\r\nNAME='it # is'`;
  await app('apps/shop', { 'package.json': '{}', '.env': env });
  const { code, stdout, stderr } = await methods('connect', 'apps/shop');
  assert.deepEqual([code, stderr], [0, '']);
  const [, version, id] = /^Published (ver_\w{26}) of Greet a customer \((wf_\w{26})\)\.\n/.exec(stdout) ?? [];
  const [, keyId] = /\((key_\w{26})\)/.exec(stdout) ?? [];
  const { install, code: source } = saidToDo(stdout, 'Node');
  const [, sha256] = /\(sha256 (\w+)\)/.exec(stdout) ?? [];
  assert.equal(
    stdout,
    `Published ${version} of Greet a customer (${id}).
Added .env to .gitignore.
Made the key "shop" (${keyId}) and wrote SERVICE_API_KEY to apps/shop/.env. It is not shown.

In the folder apps/shop:

Node 20 or later. Install:

  npm install ${stack.ready.base_url}/packages/${sha256?.slice(0, 16)}/methods-client-0.1.0.tgz

(sha256 ${sha256})
Save as run-greet-customer.mjs:

${source}
Start:  node run-greet-customer.mjs

In its place another worker may run it:  methods worker --method ${id}
Secrets to set where it runs: GREETING_TOKEN
`,
  );
  assert.match(install, /^npm install http/);
  const written = await text('apps', 'shop', '.env');
  const key = parseEnv(written).SERVICE_API_KEY ?? '';
  assert.match(key, /^sk_\w{43}_\w{49}$/);
  assert.equal(written, `${env}\r\nSERVICE_API_KEY=${key}\r\n`);
  assert.equal(stdout.includes(key.slice(3, 40)), false);
  assert.equal(stdout.includes('whsec_'), false);
  assert.equal(await text('.gitignore'), 'node_modules\n.env\n');
  assert.equal(await followed('apps/shop', stdout, 'Node'), "succeeded { greeting: 'Hello Ada' }\n");
});

test('in an empty folder the commands for either language lead to an ended run', async (t) => {
  await mkdir(path('apps', 'bill'));
  const { code, stdout } = await methods('connect', 'apps/bill');
  assert.equal(code, 0);
  assert.equal(await followed('apps/bill', stdout, 'Node'), "succeeded { greeting: 'Hello Ada' }\n");
  assert.equal((await stat(path('apps', 'bill', '.env'))).mode & 0o777, 0o600);
  assert.equal(await text('.gitignore'), 'node_modules\n.env\n');
  const { install } = saidToDo(stdout, 'Python');
  assert.match(install, /pip install "methods-client\[worker\] @ http:\S+#sha256=[0-9a-f]{64}"$/);
  const isNew = await run('python3', ['-c', 'import sys, venv; print(sys.version_info >= (3, 9))']).catch(() => null);
  if (isNew?.stdout !== 'True\n') return t.skip('there is no python3 of 3.9 with venv');
  const printed = await followed('apps/bill', stdout, 'Python').catch((error: { stderr?: string }) => {
    if (/No matching distribution|Failed to establish a new connection/.test(error.stderr ?? '')) return null;
    throw error;
  });
  if (printed === null) return t.skip('PyPI cannot be reached');
  assert.equal(printed, "succeeded {'greeting': 'Hello Ada'}\n");
  stdoutOfBill = stdout;
});

test('the worker of a Python app has no key where others could read it, and is gone when the app is killed', async (t) => {
  const { file, code } = stdoutOfBill === '' ? { file: '', code: '' } : saidToDo(stdoutOfBill, 'Python');
  if (file === '') return t.skip('the app was not installed');
  await writeFile(path('apps/bill', 'long.py'), `${code}    print('ran', flush=True)\n    input()\n`);
  const env = { PATH: process.env.PATH, HOME: desk.folder.dir, GREETING_TOKEN: 'made-up-token' };
  const program = spawn(path('apps/bill', '.venv/bin/python'), ['long.py'], {
    cwd: path('apps/bill'),
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => program.kill('SIGKILL'));
  await until('the run has ended', async () => {
    for await (const text of program.stdout ?? []) if (String(text).includes('ran')) return true;
    return assert.fail('it ended');
  });
  const workers = () => processesWith(path('apps/bill', '.venv'), 'worker.mjs');
  const [worker = assert.fail(), ...others] = workers();
  assert.deepEqual(others, []);
  const key = parseEnv(await text('apps', 'bill', '.env')).SERVICE_API_KEY ?? '';
  for (const place of ['cmdline', 'environ']) {
    assert.ok(!(await readFile(`/proc/${worker}/${place}`, 'utf8')).includes(key.slice(3, 46)), place);
  }
  program.kill('SIGKILL');
  await until('its worker is gone', () => workers().length === 0);
});

function processesWith(...words: readonly string[]): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const line = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : '';
      return words.every((word) => line.includes(word)) ? [Number(pid)] : [];
    } catch {
      return [];
    }
  });
}

test('a repeat changes nothing and says so', async () => {
  await app('apps/again', { 'package.json': '{}' });
  await methods('connect', 'apps/again');
  const before = [await text('apps', 'again', '.env'), await text('.gitignore'), (await keys()).length];
  const { code, stdout } = await methods('connect', 'apps/again');
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^ver_\w+ of Greet a customer \(wf_\w+\) is published\.\napps\/again\/\.env already has SERVICE_API_KEY; it is unchanged\. A new key in its place: {2}--replace\n\nIn the folder/,
  );
  assert.deepEqual([await text('apps', 'again', '.env'), await text('.gitignore'), (await keys()).length], before);
  interface Document {
    readonly key: { readonly name: string } | null;
    readonly install: readonly { readonly command: string }[];
    readonly secrets: readonly string[];
    readonly code: readonly { readonly language: string }[];
  }
  const { document } = await desk.folder.quickJson<Document>(['connect', 'apps/again', '--replace'], desk.env);
  assert.deepEqual([document.key?.name, document.secrets], ['again', ['GREETING_TOKEN']]);
  assert.match(document.install[0]?.command ?? '', /^npm install http/);
  assert.deepEqual(
    document.code.map(({ language }) => language),
    ['node'],
  );
  const after = await text('apps', 'again', '.env');
  assert.notEqual(after, before[0]);
  assert.match(after, /^SERVICE_API_KEY=sk_\w+\n$/);
});

test('two commands at once for an app make one key, which is the one it has', async () => {
  await mkdir(path('twice'));
  const ends = await Promise.all(
    [1, 2].map(() => desk.folder.methods(['connect', 'twice', '--method', 'greet.method'], desk.env)),
  );
  for (const { code, stderr } of ends) assert.equal(code, 0, stderr);
  assert.equal((await keys()).filter((name) => name === 'twice').length, 1);
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
