// `npm run chaos [-- --minutes 20] [--seed N] [--schedulers 3] [--per-second 12]`: random faults on a whole cluster.
// Ends with 1 when a check finds anything; the seed repeats the same faults.
import { parseArgs } from 'node:util';
import { runChaos } from './chaos.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    schedulers: { type: 'string', default: '3' },
    'per-second': { type: 'string', default: '12' },
  },
});
const say = (line: string) => console.log(`${new Date().toISOString().slice(11, 19)}  ${line}`);
say(`seed ${values.seed}`);
const report = await runChaos({
  seed: Number(values.seed),
  faultsMs: Number(values.minutes) * 60_000,
  perSecond: Number(values['per-second']),
  schedulers: Number(values.schedulers),
  say,
});
const { kill, restart, freeze, wipe } = report.faults.byKind;
say(`${report.faults.count} faults: ${kill} kills, ${restart} restarts, ${freeze} freezes, ${wipe} wipes`);
say(`${report.runs} runs, ${report.operations} operations, ${report.wrong.length} findings`);
for (const finding of report.wrong.slice(0, 50)) say(finding);
for (const trace of report.traces) console.log(trace);
process.exitCode = report.wrong.length === 0 ? 0 : 1;
