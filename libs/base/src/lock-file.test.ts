import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs, { mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { tempFolder } from '@methods/test/harness/temp-folder';
import { until } from '@methods/test/harness/until';
import { tryLockFile, type WaitingLockOptions, withLockFile } from './lock-file.ts';
import { isRunning } from './running-process.ts';

/** No process has this id: it is above the maximum on Linux. */
const ENDED = 4_194_305;
const WAIT: WaitingLockOptions = { waitMaxMs: 60_000, againMs: 1, tooLong: () => new Error('it took too long') };

let folder: string;
let path: string;
beforeEach(() => {
  folder = tempFolder('lock-file');
  path = join(folder, 'lock');
});

test('a lock has one holder, and is free when it is released', () => {
  const first = tryLockFile(path);
  assert.ok(first.held);
  assert.deepEqual(tryLockFile(path), { held: false, pid: process.pid });
  first.release();
  const second = tryLockFile(path);
  assert.ok(second.held);
  second.release();
  assert.deepEqual(readdirSync(folder), []);
});

test('a try on a full disk leaves nothing behind', (t) => {
  const write = fs.writeFileSync;
  t.mock.method(fs, 'writeFileSync', (file: string, _text: string, options: fs.WriteFileOptions) => {
    write(file, '', options);
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  assert.throws(() => tryLockFile(path), { code: 'ENOSPC' });
  assert.deepEqual(readdirSync(folder), []);
});

test('a lock is taken over if its holder has ended, and not if it is suspended', async (t) => {
  for (const text of [`${ENDED} ${hostname()}`, `${ENDED}`, 'no id']) {
    writeFileSync(path, text);
    const lock = tryLockFile(path);
    assert.ok(lock.held, text);
    lock.release();
  }
  const suspended = spawn('sleep', ['600']);
  t.after(() => suspended.kill('SIGKILL'));
  assert.ok(suspended.kill('SIGSTOP'));
  writeFileSync(path, `${suspended.pid}`);
  // Far longer ago than a library that relies on the file's time would wait.
  utimesSync(path, 1, 1);
  assert.deepEqual(tryLockFile(path), { held: false, pid: suspended.pid });
});

test('an empty lock counts as being written, and later as left by a killed process', () => {
  writeFileSync(path, '');
  assert.deepEqual(tryLockFile(path), { held: false, pid: null });
  utimesSync(path, 1, 1);
  const lock = tryLockFile(path);
  assert.ok(lock.held);
  lock.release();
});

test('a file system without hard links has locks too', (t) => {
  t.mock.method(fs, 'linkSync', () => {
    throw Object.assign(new Error('no hard links'), { code: 'EPERM' });
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  writeFileSync(path, `${ENDED}`);
  const lock = tryLockFile(path);
  assert.ok(lock.held);
  assert.deepEqual(tryLockFile(path), { held: false, pid: process.pid });
  lock.release();
  assert.deepEqual(readdirSync(folder), []);
});

test('the process id of another machine means nothing here', () => {
  writeFileSync(path, `${ENDED} other-${hostname()}`);
  assert.deepEqual(tryLockFile(path), { held: false, pid: ENDED });
  utimesSync(path, 1, 1);
  const lock = tryLockFile(path, { ageMaxMs: 60_000 });
  assert.ok(lock.held);
  lock.release();
});

test('a lock left by an earlier process of the same id is taken', () => {
  writeFileSync(path, `${process.pid} ${hostname()}`);
  const lock = tryLockFile(path);
  assert.ok(lock.held);
  lock.release();
});

test("a holder that another process found too old does not remove that one's lock", () => {
  const old = tryLockFile(path);
  assert.ok(old.held);
  utimesSync(path, 1, 1);
  const next = tryLockFile(path, { ageMaxMs: 60_000 });
  assert.ok(next.held);
  old.release();
  assert.match(readFileSync(path, 'utf8'), /^[1-9]/);
  next.release();
  assert.deepEqual(readdirSync(folder), []);
});

test('a link in the place of a lock is not followed, and a folder blocks', () => {
  const other = join(folder, 'other');
  writeFileSync(other, `${process.ppid}`);
  symlinkSync(other, path);
  const lock = tryLockFile(path);
  assert.ok(lock.held);
  lock.release();
  mkdirSync(path);
  assert.deepEqual(tryLockFile(path), { held: false, pid: null });
});

test('one of many waits for the others, and takes over a lock that was left behind', async () => {
  writeFileSync(path, `${ENDED} ${hostname()}`);
  let inside = 0;
  let most = 0;
  const work = () =>
    withLockFile(path, WAIT, async () => {
      most = Math.max(most, ++inside);
      await new Promise(setImmediate);
      inside--;
    });
  await Promise.all(Array.from({ length: 20 }, work));
  assert.equal(most, 1);
  assert.deepEqual(readdirSync(folder), []);
});

test('processes that find the same stale lock at once hold it one after the other', async () => {
  const script = `
    const { withLockFile } = await import(${JSON.stringify(new URL('./lock-file.ts', import.meta.url).href)});
    const { mkdirSync, renameSync, rmdirSync, writeFileSync } = await import('node:fs');
    const [path, inside, ready] = process.argv.slice(1);
    writeFileSync(ready + process.pid, '');
    await new Promise((begin) => process.stdin.once('data', begin));
    for (let round = 0; round < 60; round++) {
      await withLockFile(path, { waitMaxMs: 60000, againMs: 1, tooLong: () => new Error('too long') }, async () => {
        mkdirSync(inside); // fails where another one is inside
        await new Promise((again) => setImmediate(again));
        rmdirSync(inside);
        // As if this holder were killed; its successors find its file.
        writeFileSync(path + process.pid, '${ENDED}');
        renameSync(path + process.pid, path);
      });
    }`;
  const children = Array.from({ length: 3 }, () =>
    spawn(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', script, path, join(folder, 'inside'), join(folder, 'ready-')],
      { stdio: ['pipe', 'ignore', 'pipe'] },
    ),
  );
  const ends = children.map(async (child) => {
    let stderr = '';
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    const code = await new Promise((end) => child.once('exit', end));
    return { code, stderr };
  });
  const ready = () => readdirSync(folder).filter((name) => name.startsWith('ready-')).length;
  await until(
    'they are ready',
    () => ready() === children.length || children.some(({ exitCode }) => exitCode !== null),
  );
  for (const child of children) child.stdin.end('\n');
  for (const { code, stderr } of await Promise.all(ends)) assert.deepEqual([stderr, code], ['', 0]);
});

test('a wait ends with the signal, or after its time', async () => {
  const lock = tryLockFile(path);
  assert.ok(lock.held);
  const interrupt = new AbortController();
  const waiting = withLockFile(path, { ...WAIT, signal: interrupt.signal }, async () => assert.fail('it is held'));
  interrupt.abort(new Error('interrupted'));
  await assert.rejects(waiting, /interrupted/);
  const late = withLockFile(path, { ...WAIT, waitMaxMs: 0 }, async () => assert.fail('it is held'));
  await assert.rejects(late, /it took too long/);
  lock.release();
});

test('an invalid process id names no running process', () => {
  assert.deepEqual([process.pid, 1, 0, -1, Number.NaN, 1.5, ENDED].map(isRunning), [
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});
