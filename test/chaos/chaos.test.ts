// The short form of `npm run chaos`: the same load, faults and checks, for a quarter of a minute.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runChaos } from './chaos.ts';

const FAULTS_MS = 15_000;

test('random faults on three nodes under load: every check of what was seen holds', async (context) => {
  const say = (line: string) => context.diagnostic(line);
  const report = await runChaos({ seed: 7, faultsMs: FAULTS_MS, perSecond: 6, schedulers: 3, say });
  context.diagnostic(`${report.runs} runs, ${report.operations} operations, ${report.faults.count} faults`);
  assert.deepEqual(report.wrong, [], report.traces.join('\n'));
  assert.ok(report.faults.count >= 2, 'too few faults struck');
  assert.ok(report.runs >= 20, 'too few runs were started');
});
