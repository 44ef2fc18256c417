import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { folderOfRun } from './folder-of-run.ts';

test('a folder of a run runs programs, and those that killed runs left are removed', {
  skip: !existsSync('/dev/shm'),
}, () => {
  // No process has such an id.
  const left = `/dev/shm/methods-tests-${2 ** 30}-left`;
  mkdirSync(left);
  const folder = folderOfRun(4_096);
  assert.equal(existsSync(left), false);
  // Null: a memory file system that runs no programs.
  if (folder !== null) rmSync(folder, { recursive: true });
  assert.equal(folderOfRun(2 ** 60), null);
});
