import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FileId, newId } from '@methods/base/ids';
import { compileMethod } from '@methods/method/compile';
import type { InputFile } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { withNamedFiles } from './named-files.ts';

const MIB = 1024 ** 2;
const { method } = compileMethod(
  'format: method/2\nname: ab\ninputs: { list: list<file>, any?: any }\nsteps:\n  - name: one\n    node: return {}\n',
);
assert.ok(method);
const version = { inputSchema: method.inputSchema, takesFiles: true };
const named = (count: number) => Array.from({ length: count }, () => ({ file_id: newId('file') }));

/** A registry that has every requested file, each of this size. */
function found(bytes: number) {
  const asked: string[][] = [];
  const find = async (_owner: object, fileIds: readonly FileId[]) => {
    asked.push([...fileIds]);
    return fileIds.map((fileId) => ({ fileId, name: 'a', bytes, sha256: 'x', mediaType: 'a/b' }) as InputFile);
  };
  return { asked, find };
}

test('a run names at most 100 files of 1 GiB together, and more is refused before or during the look-up', async () => {
  const owner = { orgId: 'org_a' as const, owner: 'key_a' };
  const files = found(10 * MIB);
  const names = async (list: object[], of = files) => withNamedFiles(of, owner, version, { list } as never);
  assert.equal((await names(named(100)))?.fileIds.length, 100);
  await assert.rejects(names(named(101)), { code: 'too_large', message: /at most 100 files/ });
  assert.equal(files.asked.length, 1, 'nothing is looked up for too many');
  await assert.rejects(names(named(11), found(100 * MIB)), { code: 'too_large', message: /1024 MiB together/ });
  const [one] = named(1);
  assert.ok(one);
  const repeated = await names(Array(500).fill(one), found(100 * MIB));
  assert.deepEqual(repeated?.fileIds, [one.file_id], 'the same file counts once');
});

test('keeps values that look like files if the method declares none', async () => {
  const files = found(1);
  const given = { list: [], any: named(1)[0] };
  const owner = { orgId: 'org_a' as const, owner: 'key_a' };
  assert.equal(await withNamedFiles(files, owner, version, given as never), null);
  assert.deepEqual(files.asked, []);
});
