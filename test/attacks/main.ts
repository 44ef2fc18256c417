// `npm run attacks [-- --schedulers 2] [--seconds 8] [--only WORD]`: what each attack of one organization does to the
// calls of another. Ends with 1 when a call fails, or when p99 is three times its figure alone.
import { parseArgs } from 'node:util';
import { runAttacks } from './run-attacks.ts';

const { values } = parseArgs({
  options: {
    schedulers: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '8' },
    only: { type: 'string', default: '' },
  },
});
const RATIO_MAX = 3;
const reports = await runAttacks({
  schedulers: Number(values.schedulers),
  forMs: Number(values.seconds) * 1_000,
  only: values.only,
  onReport({ attack, alone, attacked, replies }) {
    const ratio = attacked.p99Ms / alone.p99Ms;
    console.log(`${ratio > RATIO_MAX || attacked.wrong.length > 0 ? 'BAD ' : 'ok  '} ${attack}`);
    const [was, is] = [alone, attacked].map((of) => `p50 ${of.p50Ms.toFixed(0)} p99 ${of.p99Ms.toFixed(0)} ms`);
    console.log(`     alone ${was}; attacked ${is}; ratio ${ratio.toFixed(1)}; replies ${JSON.stringify(replies)}`);
    for (const wrong of attacked.wrong.slice(0, 3)) console.log(`     ${wrong.slice(0, 200)}`);
  },
});
const bad = reports.filter(
  ({ alone, attacked }) => attacked.wrong.length > 0 || attacked.p99Ms > RATIO_MAX * alone.p99Ms,
);
process.exitCode = bad.length === 0 ? 0 : 1;
