// Code that works in folders a step can write opens, removes and moves nothing by path: a link could be there. What it
// may import of node's own functions is listed for each file, and each of them is safe as it is used there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sources } from './source-files.ts';

/** `type` imports do nothing. Calls below get a place from `FolderHandle.at`, or a folder that no step can reach. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'libs/executor/src/step-files.ts': ['unlink'],
  'libs/executor/src/run-folder.ts': ['mkdir', 'rename', 'unlink'],
  'libs/executor/src/files/input-folder.ts': ['mkdir', 'rename', 'unlink'],
  'libs/content/src/run-folder-archive.ts': ['mkdir', 'rename'],
  // No link can be there yet, or it is held open.
  'libs/executor/src/runners/exchange-folder.ts': [
    ...['constants', 'copyFileSync', 'linkSync', 'mkdirSync', 'realpathSync'],
    ...['rmdirSync', 'symlinkSync', 'unlinkSync', 'writeFileSync'],
  ],
  // Before the step's process is started.
  'libs/executor/src/runners/shell-process.ts': ['writeFileSync'],
  'libs/executor/src/runners/step-user.ts': ['chownSync', 'readFileSync', 'writeFileSync'],
  // The worker's own folder, which holds those of the steps.
  'libs/worker/src/work-folder.ts': ['mkdirSync', 'readdir', 'stat', 'utimes'],
  'libs/executor/src/runner-pool.ts': ['mkdirSync', 'mkdtempSync'],
  'libs/worker/src/run-folder-transfer.ts': ['open', 'rm'],
};
/** By path and whole trees of them; only where no step writes. */
const TREES = /\b(rm|rmSync|cp|cpSync|lchown|lchownSync|chmod|chmodSync|chown|chownSync)\b/;
const NO_STEP_WRITES = [
  'libs/content/src/folder/folder-handle.ts',
  'libs/executor/src/runners/step-user.ts',
  'libs/worker/src/run-folder-transfer.ts',
  // Prepared packages are read-only to steps.
  'libs/executor/src/dependencies/',
];

function importsOfFs(text: string): string[] {
  const imports = text.matchAll(/import\s+(?!type\b)\{([^}]*)\}\s*from 'node:fs(?:\/promises)?'/g);
  return [...imports]
    .flatMap(([, names = '']) => names.split(',').map((name) => name.trim()))
    .filter((name) => name !== '' && !name.startsWith('type '));
}

test('what works in the folders of steps opens and removes files by descriptor', () => {
  for (const [path, allowed] of Object.entries(ALLOWED)) {
    const file = sources.find((source) => source.path === path);
    assert.ok(file, `${path} is gone: take it from the list`);
    assert.deepEqual(importsOfFs(file.text).sort(), [...allowed].sort(), path);
  }
});

test('whole folders are removed by descriptor where steps write', () => {
  const breaking = sources
    .filter(({ path }) => /^libs\/(executor|worker|content)\/src\//.test(path))
    .filter(({ path }) => !/(harness|killed-worker)\.ts$/.test(path))
    .filter(({ path }) => !NO_STEP_WRITES.some((it) => path.startsWith(it)))
    .filter(({ text }) => importsOfFs(text).some((name) => TREES.test(name)));
  assert.deepEqual(
    breaking.map(({ path }) => path),
    [],
  );
});
