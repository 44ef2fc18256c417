// `npm run attacks [-- --schedulers 2] [--windows 2] [--seconds 10] [--only WORD,WORD]`: what each attack of one
// organization does to the calls of another. Ends with 1 when a call fails, or when p99 is three times its figure
// without an attack.
import { parseArgs } from 'node:util';
import type { QuietFigures } from './quiet-calls.ts';
import { type AttackReport, runAttacks } from './run-attacks.ts';

const RATIO_MAX = 3;
const { values } = parseArgs({
  options: {
    schedulers: { type: 'string', default: '1' },
    windows: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
  },
});
let bad = 0;

function tell({ attack, alone, attacked, replies, use }: AttackReport): void {
  const ratio = attacked.ms(0.99) / alone.ms(0.99);
  const isBad = ratio > RATIO_MAX || attacked.wrong.length > 0;
  if (isBad) bad++;
  console.log(`${isBad ? 'BAD ' : 'ok  '} ${ratio.toFixed(1)} ${attack}`);
  console.log(`     quiet ${figures(alone)}; attacked ${figures(attacked)}`);
  console.log(`     replies ${JSON.stringify(replies)}`);
  console.log(`     ${use}`);
  for (const wrong of attacked.wrong.slice(0, 3)) console.log(`     ${wrong.slice(0, 200)}`);
}

function figures(of: QuietFigures): string {
  return `p50 ${of.ms(0.5).toFixed(0)} p99 ${of.ms(0.99).toFixed(0)} ms of ${of.calls}`;
}

await runAttacks({
  schedulers: Number(values.schedulers),
  windows: Number(values.windows),
  attackedMs: Number(values.seconds) * 1_000,
  aloneMs: Number(values.seconds) * 300,
  only: values.only,
  onReport: tell,
});
process.exitCode = bad === 0 ? 0 : 1;
