import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tryLockFile } from '@methods/base/lock-file';
import { tempFolder } from '@methods/test/harness/temp-folder';
import { readUnsent } from '../upload/unsent-record.ts';
import { readCalledFiles, writeCalledFiles } from './local-runs.ts';
import { openToAppend, readRunFile } from './run-files.ts';
import { JOURNAL, readJournal } from './run-journal.ts';
import { readRunRecord } from './run-record.ts';
import { writeStepFile } from './step-folder.ts';

/** A folder of a run, and beside it one of the machine. */
function folders(): { run: string; other: string } {
  const root = tempFolder('run-files');
  const [run, other] = [join(root, 'run'), join(root, 'other')];
  mkdirSync(run);
  mkdirSync(other);
  writeFileSync(join(other, 'secret'), '{"seq":1}\nno end of a line');
  return { run, other };
}

test('links in the folder of a run are not followed: nothing else is read, cut or written', async () => {
  const { run, other } = folders();
  const secret = join(other, 'secret');
  for (const name of ['run.json', 'method', JOURNAL, 'unsent.json', 'lock']) symlinkSync(secret, join(run, name));
  for (const name of ['called', 'steps']) symlinkSync(other, join(run, name));
  writeFileSync(join(other, 'files.json'), '{"/a":"secret"}');
  const tries: (() => Promise<unknown>)[] = [
    () => readRunRecord(run),
    () => readRunFile(run, 'method'),
    () => readJournal(run),
    () => openToAppend(run, JOURNAL),
    () => readCalledFiles(run),
    () => writeCalledFiles(run, new Map([['/a', Buffer.from('a')]])),
    () => readUnsent(run, 'run_1'),
    () => writeStepFile(run, 'first', 'out.json', {}),
  ];
  for (const attempt of tries) await assert.rejects(attempt);
  assert.equal(readFileSync(secret, 'utf8'), '{"seq":1}\nno end of a line');
  assert.deepEqual(readdirSync(other).sort(), ['files.json', 'secret']);
});

test('a FIFO in the folder of a run blocks no one', async () => {
  const { run } = folders();
  const fifos = [JOURNAL, 'run.json', 'lock'].map((name) => join(run, name));
  execFileSync('/bin/sh', ['-c', 'exec mkfifo "$@"', 'sh', ...fifos]);
  await assert.rejects(() => readJournal(run), /is not a file/);
  await assert.rejects(() => openToAppend(run, JOURNAL));
  await assert.rejects(() => readRunRecord(run), /is not a file/);
  const lock = tryLockFile(join(run, 'lock'));
  assert.equal(lock.held, true);
});

test('a step of a loop has its own folder, and an incomplete end of a journal is removed', async () => {
  const { run } = folders();
  await writeStepFile(run, 'loop[2]/inner', 'out.json', { a: 1 });
  assert.deepEqual(JSON.parse(readFileSync(join(run, 'steps/loop.2/inner/out.json'), 'utf8')), { a: 1 });
  writeFileSync(join(run, JOURNAL), '{"seq":1}\n{"seq"');
  assert.deepEqual(await readJournal(run), [{ seq: 1 }]);
  assert.equal(readFileSync(join(run, JOURNAL), 'utf8'), '{"seq":1}\n');
});
