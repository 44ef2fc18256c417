import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { WorkFolder } from './work-folder.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'work-folder-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

function age(path: string, hours: number): void {
  const then = new Date(Date.now() - hours * 3_600_000);
  utimesSync(path, then, then);
}

test('removes what a killed worker left, and nothing else', async () => {
  for (const name of ['runs-dead', 'runs-alive', 'other']) {
    mkdirSync(join(dataDir, name));
    writeFileSync(join(dataDir, name, 'file'), 'content');
    age(join(dataDir, name), name === 'runs-alive' ? 0.9 : 1.1);
  }
  const folder = new WorkFolder(dataDir);
  folder.start();
  await folder.removeAbandoned();
  assert.deepEqual(readdirSync(dataDir).sort(), ['other', folder.dir.slice(dataDir.length + 1), 'runs-alive'].sort());
});

test('keeps a folder that its worker touches', async () => {
  const alive = new WorkFolder(dataDir);
  alive.start();
  age(alive.dir, 2);
  await alive.touch();
  await new WorkFolder(dataDir).removeAbandoned();
  assert.ok(statSync(alive.dir).isDirectory());
});

test('a stop removes the folder with its content, which other users could not read', async () => {
  const folder = new WorkFolder(join(dataDir, 'not', 'there'));
  folder.start();
  assert.equal(statSync(folder.dir).mode & 0o777, 0o700);
  writeFileSync(join(folder.dir, 'file'), 'content');
  await folder.stop();
  await folder.touch();
  assert.deepEqual(readdirSync(join(dataDir, 'not', 'there')), []);
});
