// The Python library against a running stack: its own pytest suite, and its types. Its dependencies come from PyPI into
// an environment that is kept between runs; without Python or PyPI the test is skipped and says so.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { commonStack } from './common-stack.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LIBRARY = join(ROOT, 'libs/client-python');
const REQUIREMENTS = join(LIBRARY, 'tests/requirements.txt');
const METHODS = ['greet', 'two-questions', 'short-question', 'digest-files'];
const INSTALL_MS = 120_000;

/** The folder of the environment's programs; a string of why there is none. */
async function environment(): Promise<{ bin: string } | { missing: string }> {
  const version = await run('python3', ['-c', 'import sys; print(sys.version_info >= (3, 9), sys.version)']).catch(
    () => null,
  );
  if (!version?.stdout.startsWith('True')) return { missing: 'there is no python3 of 3.9 or newer' };
  const name = createHash('sha256').update(version.stdout).update(readFileSync(REQUIREMENTS)).digest('hex');
  const folder = join(ROOT, 'node_modules/.cache', `methods-python-${name.slice(0, 16)}`);
  const bin = join(folder, 'bin');
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return { bin };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    await run('python3', ['-m', 'venv', folder]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries', '1'];
    await run(join(bin, 'python'), [...pip, '-r', REQUIREMENTS], { timeout: INSTALL_MS });
  } catch {
    return { missing: 'python3 has no venv, or PyPI cannot be reached' };
  }
  writeFileSync(`${complete}.new`, '');
  renameSync(`${complete}.new`, complete);
  return { bin };
}

async function python(bin: string, args: readonly string[], env: Record<string, string> = {}): Promise<void> {
  const options = { cwd: LIBRARY, env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', ...env } };
  await run(join(bin, 'python'), args, options).catch((error: { stdout?: string; stderr?: string }) =>
    assert.fail(`python ${args.join(' ')}:\n${error.stdout}\n${error.stderr}`),
  );
}

test('the Python library passes its own tests on a running stack, and its types are strict', async (t: TestContext) => {
  const found = await environment();
  if ('missing' in found) return t.skip(found.missing);
  const stack = await commonStack();
  const methods = METHODS.map((name) => [
    `METHODS_TEST_METHOD_${name.toUpperCase().replaceAll('-', '_')}`,
    stack.method(name),
  ]);
  await python(found.bin, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], {
    PYTHONPATH: join(LIBRARY, 'src'),
    METHODS_TEST_URL: stack.ready.base_url,
    METHODS_TEST_KEY: stack.ready.api_key,
    ...Object.fromEntries(methods),
  });
  await python(found.bin, ['-m', 'mypy', '--cache-dir=/dev/null', 'src']);
});
