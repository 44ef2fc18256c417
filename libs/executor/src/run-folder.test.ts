import assert from 'node:assert/strict';
import { access, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { EntryRefused } from '@methods/content/folder/folder-handle';
import { ArchiveRefused } from '@methods/content/member-names';
import { RunFolder } from './run-folder.ts';

let base: string;
before(async () => {
  base = await mkdtemp(join(tmpdir(), 'run-folder-'));
});
after(() => rm(base, { recursive: true, force: true }));

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function* failing(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('half');
  throw new Error('connection lost');
}

describe('a run folder', () => {
  it('makes nothing on the disk until a step makes a file', async () => {
    const folder = RunFolder.create(join(base, 'lazy'), 'run_1');
    assert.equal(folder.hasFiles(), false);
    await folder.clearStep('a');
    await RunFolder.create(join(base, 'lazy'), 'run_1').remove();
    await assert.rejects(access(join(base, 'lazy')), { code: 'ENOENT' });
    await folder.write('a', 'x.txt', bytes('hello'), 'text/plain');
    assert.equal(folder.hasFiles(), true);
    assert.equal(folder.bytesTotal, 5);
  });

  it('refuses names that its archive could not hold, and run ids that are not names', async () => {
    const folder = RunFolder.create(base, 'run_2');
    await folder.write('a', 'Report.txt', bytes('1'), 'text/plain');
    for (const name of ['report.TXT', '../x', 'x.', 'a\\b', '']) {
      await assert.rejects(folder.write('a', name, bytes('2'), 'text/plain'), ArchiveRefused, name);
    }
    for (const id of ['', '..', 'a/b', 'a\0']) assert.throws(() => RunFolder.create(base, id), TypeError);
  });

  it('keeps no incomplete file', async () => {
    const folder = RunFolder.create(base, 'run_3');
    await assert.rejects(folder.write('a', 'x', failing(), 'text/plain'), /connection lost/);
    assert.deepEqual(await readdir(folder.dir), []);
    await assert.rejects(access(`${folder.dir}.parts`), { code: 'ENOENT' });
    await folder.clearStep('a');
    await folder.write('a', 'x', bytes('1'), 'text/plain');
    assert.equal(folder.bytesTotal, 1, 'its name was free again');
  });

  it('gives absolute paths for its files at any depth, and none outside', async () => {
    const folder = RunFolder.create(base, 'run_4');
    const file = await folder.write('a', 'x', bytes('x'), 'text/plain');
    assert.ok(folder.has(file));
    assert.deepEqual(await folder.withAbsolutePaths({ list: [file, 1, null], other: 'steps/a' }), {
      list: [{ ...file, path: join(folder.dir, file.path) }, 1, null],
      other: 'steps/a',
    });
    await writeFile(join(base, 'outside'), '');
    await assert.rejects(folder.absolutePath('steps/../../outside'), EntryRefused);
    await assert.rejects(folder.absolutePath('steps/missing'), { code: 'ENOENT' });
  });

  it('has a new revision once the files of a step are gone, not while an older archive is packed', async () => {
    const folder = RunFolder.create(base, 'run_8');
    await folder.write('a', 'x', bytes('1'), 'text/plain');
    const { revision } = folder;
    const archive = folder.archive();
    await archive.next();
    const cleared = folder.clearStep('a');
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(folder.revision, revision);
    for await (const _ of archive);
    await cleared;
    assert.notEqual(folder.revision, revision);
  });

  it('counts restored files towards its bytes, and lets a step that runs again use its names', async () => {
    const folder = RunFolder.create(base, 'run_5');
    await folder.write('a', 'x', bytes('12345'), 'text/plain');
    const later = RunFolder.create(join(base, 'later'), 'run_5');
    await later.restore(folder.archive());
    assert.equal(later.bytesTotal, 5);
    const { revision } = later;
    await later.clearStep('a');
    assert.equal(later.bytesTotal, 0);
    assert.notEqual(later.revision, revision, 'the saved folder has files that this one has no more');
    await later.write('a', 'x', bytes('6'), 'text/plain');
    assert.equal(later.bytesTotal, 1);
  });
});
