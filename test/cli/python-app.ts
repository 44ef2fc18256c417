// A Python application with the library's code and the worker's.
import { execFile } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildBundle } from '@methods/worker/pack/build-bundle';
import { pythonWith, SUITE } from '../e2e/python-environment.ts';
import type { Stack } from '../e2e/stack.ts';
import { tempFolder } from '../harness/temp-folder.ts';

/** A Python application with the code of the wheel; null: there is no Python here. */
export async function pythonApp(
  t: TestContext,
  stack: Stack,
): Promise<((text: string, key: string) => Promise<string>) | null> {
  const found = await pythonWith(SUITE);
  if ('missing' in found) {
    t.diagnostic(`without Python: ${found.missing}`);
    return null;
  }
  const folder = tempFolder('python-app');
  await mkdir(join(folder, 'lib'));
  await cp(
    fileURLToPath(new URL('../../libs/client-python/src/methods', import.meta.url)),
    join(folder, 'lib/methods'),
    { recursive: true },
  );
  await buildBundle(join(folder, 'lib/methods/_worker_code'));
  return async (text, key) => {
    await writeFile(join(folder, 'app.py'), text);
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      PYTHONPATH: join(folder, 'lib'),
      METHODS_SERVER: stack.ready.base_url,
    };
    const options = { cwd: folder, env: { ...env, SERVICE_API_KEY: key } };
    return (await promisify(execFile)(join(found.bin, 'python'), ['app.py'], options)).stdout.trim();
  };
}
