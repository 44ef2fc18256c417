// `npm run bench -- <workload> [--json FILE] [--scale N]`: measures the real stack.
import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { printMeasurements } from './report.ts';
import { type Workload, workloads } from './workloads.ts';

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: 'string' }, scale: { type: 'string' } },
  });
  const names = positionals.length > 0 ? positionals : Object.keys(workloads);
  const scale = Number(values.scale ?? '1');
  const unknown = names.filter((name) => !(name in workloads));
  if (unknown.length > 0 || !(scale > 0)) {
    process.stderr.write(`Workloads: ${Object.keys(workloads).join(', ')}. --scale takes a positive number.\n`);
    process.exit(2);
  }
  const results: Record<string, unknown> = {};
  for (const name of names) {
    const run = workloads[name] as Workload;
    process.stdout.write(`\n${name}\n`);
    const result = await run({ scale });
    results[name] = result;
    printMeasurements(result);
  }
  if (values.json !== undefined) {
    const machine = { cpus: cpus().length, model: cpus()[0]?.model, memory: totalmem(), node: process.version };
    writeFileSync(values.json, `${JSON.stringify({ machine, scale, results }, null, 2)}\n`);
  }
}

await main();
