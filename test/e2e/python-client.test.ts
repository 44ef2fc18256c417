// The Python library: its own pytest suite against a running stack, on each version of Python that is here, and its
// types by mypy and pyright.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { tempFolder } from '../harness/temp-folder.ts';
import { commonStack } from './common-stack.ts';
import { pythonWith } from './python-environment.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LIBRARY = join(ROOT, 'libs/client-python');
const PYTEST = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'];
const METHODS = ['greet', 'two-questions', 'short-question', 'digest-files'];
const VERSIONS = ['3.9', '3.10', '3.11', '3.12', '3.13'];
const SUITE = ['-r', join(LIBRARY, 'tests/requirements.txt')];

async function succeeded(command: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const options = { cwd: LIBRARY, env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', ...env } };
  const ended = await run(command, args, options).catch((error: { stdout?: string; stderr?: string }) =>
    assert.fail(`${command} ${args.join(' ')}:\n${error.stdout}\n${error.stderr}`),
  );
  return ended.stdout;
}

describe('the Python library', () => {
  test('passes its own tests on a running stack', async (t: TestContext) => {
    const found = await pythonWith(SUITE);
    if ('missing' in found) return t.skip(found.missing);
    const stack = await commonStack();
    const methods = METHODS.map((name) => [
      `METHODS_TEST_METHOD_${name.toUpperCase().replaceAll('-', '_')}`,
      stack.method(name),
    ]);
    const summary = await succeeded(join(found.bin, 'python'), PYTEST, {
      PYTHONPATH: join(LIBRARY, 'src'),
      METHODS_TEST_URL: stack.ready.base_url,
      METHODS_TEST_KEY: stack.ready.api_key,
      ...Object.fromEntries(methods),
    });
    assert.match(summary, /^\d+ passed in /m);
  });

  for (const version of VERSIONS) {
    test(`passes its tests without a service on Python ${version}`, async (t: TestContext) => {
      const found = await pythonWith(SUITE, `python${version}`);
      if ('missing' in found) return t.skip(found.missing);
      const summary = await succeeded(join(found.bin, 'python'), PYTEST, { PYTHONPATH: join(LIBRARY, 'src') });
      assert.match(summary, /^\d+ passed, \d+ skipped in /m);
    });
  }

  test('has strict types for mypy and pyright, as the oldest and the newest Python see them', async (t) => {
    const found = await pythonWith(SUITE);
    if ('missing' in found) return t.skip(found.missing);
    const python = join(found.bin, 'python');
    const cache = `--cache-dir=${tempFolder('mypy')}`;
    for (const version of ['3.9', '3.13']) {
      await succeeded(python, ['-m', 'mypy', cache, `--python-version=${version}`, 'src']);
      const pyright = join(ROOT, 'node_modules/pyright/index.js');
      await succeeded(process.execPath, [pyright, '--pythonpath', python, '--pythonversion', version, '-p', '.']);
    }
  });
});
