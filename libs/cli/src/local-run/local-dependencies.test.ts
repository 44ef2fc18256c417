import { equal, notEqual, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { PackageIndex } from '@methods/executor/dependencies/package-index.fixture';
import { CliFolder } from '../cli.fixture.ts';

let index: PackageIndex;
let folder: CliFolder;
before(async () => {
  index = await PackageIndex.start();
  await index.addNpm('says', '1.0.0', { 'index.js': "export const word = 'said'" });
  folder = await CliFolder.make({
    'says.method': `format: method/2
name: says
dependencies: { npm: [says@1.0.0] }
steps:
  - name: say
    node: |
      import { word } from 'says'
      return { word }
    out: { word: string }
result: { word: =steps.say.word }
`,
  });
});
after(async () => {
  await index.stop();
  await folder.remove();
});

interface RunDocument {
  readonly result: unknown;
  readonly inspection: { readonly lock_sha256: string | null };
}

async function run(): Promise<RunDocument> {
  const { document, stderr } = await folder.json<RunDocument>(['run', 'says.method'], Object.fromEntries(index.host));
  ok(document.result !== null, stderr);
  return document;
}

test('the record of a run names the lock of its packages, and an outdated lock is made again', async () => {
  const first = await run();
  const cache = join(index.dir, '.cache', 'methods');
  const [name = ''] = await readdir(join(cache, 'locks'));
  const lock = await readFile(join(cache, 'locks', name), 'utf8');
  equal(first.inspection.lock_sha256, createHash('sha256').update(lock).digest('hex'));
  // For a package that the registry does not have.
  const other = lock.replace(/sha512-[^"]*/, `sha512-${Buffer.alloc(64, 1).toString('base64')}`);
  notEqual(other, lock);
  await writeFile(join(cache, 'locks', name), other);
  await rm(join(cache, 'environments'), { recursive: true });
  equal((await run()).inspection.lock_sha256, first.inspection.lock_sha256);
  equal(await readFile(join(cache, 'locks', name), 'utf8'), lock);
});
