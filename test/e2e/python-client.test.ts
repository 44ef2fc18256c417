// The Python library: its own pytest suite against a running stack, on each version of Python that is here, and its
// types by mypy and pyright.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createServiceKey } from '@methods/auth/service-key';
import type { KeyId } from '@methods/base/ids';
import { tempFolder } from '../harness/temp-folder.ts';
import { TEST_DOER } from '../harness/test-doer.ts';
import { commonStack } from './common-stack.ts';
import { PACKAGES, pythonWith, SUITE, versionWith } from './python-environment.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LIBRARY = join(ROOT, 'libs/client-python');
const PYRIGHT = fileURLToPath(import.meta.resolve('pyright'));
const PYTEST = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'];
const METHODS = ['greet', 'two-questions', 'short-question', 'digest-files', 'keep-private'];
const VERSIONS = ['3.9', '3.10', '3.11', '3.12', '3.13'];
/** The oldest and the newest. */
const TYPED = ['3.9', '3.13'];

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
    const { key, authSha256 } = createServiceKey();
    const orgId = stack.ready.org_id;
    const made = await stack.registry.createServiceKey({ orgId, name: 'revoked', authSha256, doer: TEST_DOER });
    await stack.registry.revokeServiceKey({ orgId, keyId: (made.key?.keyId ?? '') as KeyId, doer: TEST_DOER });
    const summary = await succeeded(join(found.bin, 'python'), PYTEST, {
      PYTHONPATH: join(LIBRARY, 'src'),
      METHODS_TEST_URL: stack.ready.base_url,
      METHODS_TEST_REVOKED_KEY: key,
      METHODS_TEST_KEY: stack.ready.api_key,
      ...Object.fromEntries(methods),
    });
    assert.match(summary, /^\d+ passed in /m);
  });

  for (const version of VERSIONS) {
    const isTyped = TYPED.includes(version);
    test(`passes its tests without a service${isTyped ? ', and has strict types,' : ''} on Python ${version}`, async (t) => {
      const found = await pythonWith(SUITE);
      if ('missing' in found) return t.skip(found.missing);
      const of = await versionWith(isTyped ? SUITE : PACKAGES, version, found.bin);
      if ('missing' in of) return t.skip(of.missing);
      const { python, env } = of;
      const source = { ...env, PYTHONPATH: [join(LIBRARY, 'src'), env.PYTHONPATH].join(':') };
      assert.match(await succeeded(python, PYTEST, source), /^\d+ passed, \d+ skipped in /m);
      if (!isTyped) return;
      const cache = `--cache-dir=${tempFolder('mypy')}`;
      await succeeded(python, ['-m', 'mypy', cache, `--python-version=${version}`, 'src'], env);
      // It finds packages of an environment only.
      const packages = ['--pythonpath', join(found.bin, 'python')];
      await succeeded(process.execPath, [PYRIGHT, ...packages, '--pythonversion', version, '-p', '.']);
    });
  }

  test('is built as sdist and wheel by its own build, and installs from the sdist', async (t) => {
    const found = await pythonWith(SUITE);
    if ('missing' in found) return t.skip(found.missing);
    const python = join(found.bin, 'python');
    const folder = tempFolder('sdist');
    await succeeded(python, ['-m', 'hatchling', 'build', '-d', folder]);
    const names = (await readdir(folder)).sort();
    assert.deepEqual(names, ['methods_client-0.1.0-py3-none-any.whl', 'methods_client-0.1.0.tar.gz']);
    const sdist = join(folder, names[1] ?? '');
    const site = join(folder, 'site');
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '--no-build-isolation'];
    await succeeded(python, [...pip, '--target', site, sdist]);
    const code = 'import methods; print(methods.__version__, methods.__file__)';
    const printed = await succeeded(python, ['-c', code], { PYTHONPATH: site });
    assert.equal(printed.trim(), `0.1.0 ${join(site, 'methods/__init__.py')}`);
    assert.ok((await readdir(join(site, 'methods'))).includes('py.typed'));
  });
});
