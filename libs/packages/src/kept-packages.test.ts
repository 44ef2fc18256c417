import { deepEqual, equal } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { tempFolder } from '@methods/test/harness/temp-folder';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
const DAY_MS = 24 * 3_600_000;

test('a build of changed sources leaves the folder that a running stack serves, and removes old ones', async () => {
  const root = tempFolder('packages');
  const usedDaysAgo = { served: 0.5, old: 2, 'unfinished-old': 2 };
  for (const [name, days] of Object.entries(usedDaysAgo)) {
    mkdirSync(join(root, name));
    const used = new Date(Date.now() - days * DAY_MS);
    utimesSync(join(root, name), used, used);
  }
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', MAIN, '--kept', root]);
  deepEqual(readdirSync(root).sort(), [basename(stdout.trim()), 'served'].sort());
  equal(readdirSync(stdout.trim()).length, 2);
});
