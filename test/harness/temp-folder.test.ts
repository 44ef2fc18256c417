import assert from 'node:assert/strict';
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { quickFolder } from './temp-folder.ts';

test('uses the disk for more than the machine can hold in memory', () => {
  const folder = quickFolder('quick', 2 ** 60);
  assert.equal(dirname(folder), realpathSync(tmpdir()));
  rmSync(folder, { recursive: true });
});

test('uses memory for little data where a memory file system exists', { skip: !existsSync('/dev/shm') }, () => {
  const folder = quickFolder('quick', 4_096);
  assert.equal(dirname(folder), '/dev/shm');
  rmSync(folder, { recursive: true });
});
