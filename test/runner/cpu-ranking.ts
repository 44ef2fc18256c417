// What test files cost, the dearest first, from the rows that their processes wrote.
import { existsSync, readFileSync } from 'node:fs';
import type { CpuRow } from './cpu-report.ts';

/** One line for the sum and one for each row. */
export function cpuRanking(path: string, others: readonly CpuRow[]): string {
  const written = existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
  const rows = [...others, ...written.map((line) => JSON.parse(line) as CpuRow)].sort((a, b) => b.cpuS - a.cpuS);
  const all = { name: 'all', cpuS: rows.reduce((sum, { cpuS }) => sum + cpuS, 0) };
  return [all, ...rows].map(({ name, cpuS }) => `${cpuS.toFixed(2).padStart(8)} ${name}`).join('\n');
}
