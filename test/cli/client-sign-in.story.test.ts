// The libraries on a person's own computer, without a service key: they use the sign-in of the command line.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { signIn } from '@methods/local-stack/identity/testing/running-provider.fixture';
import { pythonWith, SUITE } from '../e2e/python-environment.ts';
import type { Stack } from '../e2e/stack.ts';
import { commonStack } from './common-stack.ts';
import { Desk, type KeptSignIn } from './desk.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);
let stack: Stack;
let desk: Desk;
before(async () => {
  stack = await commonStack();
  desk = await Desk.make();
});
after(() => desk?.remove());

/** Runs in the person's home. */
async function app(code: string): Promise<unknown> {
  const text = `import { Methods } from '@methods/client/index';
process.chdir(process.env.HOME);
const call = async (work) => { try { return await work(); } catch (error) { return [error.name, error.code]; } };
${code}`;
  const env = { PATH: process.env.PATH, HOME: desk.folder.dir };
  const { stdout } = await run(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', text], {
    cwd: ROOT,
    env,
  });
  return JSON.parse(stdout) as unknown;
}

test('runs of an application use the sign-in, renewed when it is old, and have no webhook', async () => {
  const nothing = await app('console.log(JSON.stringify(await call(async () => new Methods())));');
  assert.deepEqual(nothing, ['ConfigurationError', 'no_key']);
  const login = await desk.signIn(stack.ready.base_url, (address) => signIn(address));
  assert.equal(login.code, 0, login.stderr);
  const [{ path, signIn: kept } = assert.fail()] = desk.kept();
  // Old by its clock: the library renews it.
  writeFileSync(path, JSON.stringify({ ...kept, expiresAtMs: Date.now() }));
  const method = JSON.stringify(stack.method('greet'));
  const [results, refused] = (await app(`
    const methods = new Methods();
    const start = { method: ${method}, inputs: { name: 'Ada' } };
    // More than have connections of their own: the stream of a person's sign-in has no content.
    const runs = await Promise.all(Array.from({ length: 6 }, () => methods.run(start)));
    const refused = await call(() => methods.start({ ...start, webhookUrl: 'https://example.com/' }));
    console.log(JSON.stringify([runs.map(({ result }) => result), refused]));`)) as [unknown[], unknown];
  assert.deepEqual(results, new Array(6).fill({ greeting: 'Hello, Ada!' }));
  assert.deepEqual(refused, ['ConfigurationError', 'webhook_needs_key']);
  const renewed = JSON.parse(readFileSync(path, 'utf8')) as KeptSignIn;
  assert.notEqual(renewed.accessToken, kept.accessToken);
  // The command line continues with what the library stored.
  assert.equal((await desk.run(['whoami'])).code, 0);
});

test('a Python application does the same, and its threads renew the sign-in once', async (t) => {
  const found = await pythonWith(SUITE);
  if ('missing' in found) return t.skip(found.missing);
  const [{ path, signIn: kept } = assert.fail()] = desk.kept();
  writeFileSync(path, JSON.stringify({ ...kept, expiresAtMs: Date.now() }));
  const method = stack.method('greet');
  const code = `
from concurrent.futures import ThreadPoolExecutor
from methods import CredentialError, Methods
with Methods() as client, ThreadPoolExecutor(6) as threads:
    runs = list(threads.map(lambda _: client.run("${method}", {"name": "Ada"}), range(6)))
    print({run.result["greeting"] for run in runs})
    try:
        client.start("${method}", webhook_url="https://example.com/")
    except CredentialError as error:
        print(error.code)
`;
  const env = { PATH: process.env.PATH, HOME: desk.folder.dir, PYTHONPATH: join(ROOT, 'libs/client-python/src') };
  const { stdout } = await run(join(found.bin, 'python'), ['-c', code], { cwd: desk.folder.dir, env });
  assert.deepEqual(stdout.trim().split('\n'), ["{'Hello, Ada!'}", 'webhook_needs_key']);
  const renewed = JSON.parse(readFileSync(path, 'utf8')) as KeptSignIn;
  assert.notEqual(renewed.accessToken, kept.accessToken);
  assert.equal((await desk.run(['whoami'])).code, 0);
});
