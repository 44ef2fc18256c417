// The CPU seconds of each test file, written by its process: its own and those of its children. A file's share of a
// process ends where that of the next begins; what it takes to load them all is a row of its own.
import { appendFileSync } from 'node:fs';
import { before } from 'node:test';
import { cpuSeconds } from '../harness/process-tree.ts';

export interface CpuRow {
  readonly name: string;
  readonly cpuS: number;
}

const rows: { name: string; fromS: number }[] = [];

/**
 * Adds one line for each test file of this process to the file that METHODS_TEST_CPU names, when the process ends.
 * @public What built-code.ts builds calls it.
 */
export function reportCpu(name: string): void {
  const path = process.env.METHODS_TEST_CPU;
  if (path === undefined) return;
  process.once('exit', () => {
    begin('');
    const lines = rows.slice(0, -1).map(({ name, fromS }, n) => {
      const row: CpuRow = { name, cpuS: (rows[n + 1]?.fromS ?? fromS) - fromS };
      return `${JSON.stringify(row)}\n`;
    });
    appendFileSync(path, lines.join(''));
  });
  rows.push({ name, fromS: 0 });
}

/**
 * In the suite of a file: what follows is its own.
 * @public What built-code.ts builds calls it.
 */
export function reportCpuOfFile(name: string): void {
  before(() => begin(name));
}

function begin(name: string): void {
  if (rows.length > 0) rows.push({ name, fromS: cpuSeconds([process.pid])[0] ?? 0 });
}
