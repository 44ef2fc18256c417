import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../harness/temp-folder.ts';
import { cpuRanking } from './cpu-ranking.ts';

test('rows of all processes and others are ranked by their seconds, after the sum', () => {
  const folder = tempFolder('cpu-ranking');
  const path = join(folder, 'rows');
  writeFileSync(path, '{"name":"a.test.ts","cpuS":1.5}\n{"name":"b.test.ts","cpuS":12.25}\n');
  assert.equal(
    cpuRanking(path, [{ name: 'the server', cpuS: 2 }]),
    '   15.75 all\n   12.25 b.test.ts\n    2.00 the server\n    1.50 a.test.ts',
  );
  assert.equal(cpuRanking(join(folder, 'absent'), []), '    0.00 all');
  rmSync(folder, { recursive: true });
});
