import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { programArguments } from '@methods/test/harness/program-arguments';

const CODE = new URL('./fault-point.ts', import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'fault-point-'));
const onceFile = join(folder, 'once');
after(() => rmSync(folder, { recursive: true }));

/** Returns the signal that ended a process at the point, and its output after the point. */
function pass(armed: boolean): { signal: string | null; wrote: string } {
  const code = `
    import { armFaultPoint, faultPoint } from ${JSON.stringify(CODE.href)};
    if (${armed}) armFaultPoint({ names: ['claim-committed'], onceFile: ${JSON.stringify(onceFile)} });
    faultPoint('granted-early');
    faultPoint('claim-committed');
    console.log('behind');`;
  const { signal, stdout } = spawnSync(process.execPath, programArguments(code, CODE), { encoding: 'utf8' });
  return { signal, wrote: stdout.trim() };
}

test('a fault point does nothing until it is armed, and fires once', () => {
  assert.deepEqual(pass(false), { signal: null, wrote: 'behind' });
  assert.equal(existsSync(onceFile), false);
  assert.deepEqual(pass(true), { signal: 'SIGKILL', wrote: '' });
  assert.deepEqual(pass(true), { signal: null, wrote: 'behind' });
});
