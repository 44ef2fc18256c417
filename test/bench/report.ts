// Measurements as a table for people.
import type { Measurement } from './measure.ts';

export interface WorkloadResult {
  readonly measurements: readonly Measurement[];
  /** Further figures, one line each. */
  readonly notes: readonly string[];
}

export function printMeasurements({ measurements, notes }: WorkloadResult): void {
  const line = (text: string) => process.stdout.write(`${text}\n`);
  if (measurements.length > 0)
    line('  workload                       conc   runs/s    p50    p95    p99    max ms  CPU-s/1000 runs');
  for (const m of measurements) {
    const name = `${m.name}${m.failed > 0 ? ` (${m.failed} FAILED)` : ''}`.padEnd(30);
    const times = [m.p50Ms, m.p95Ms, m.p99Ms, m.maxMs].map((ms) => ms.toFixed(1).padStart(6)).join(' ');
    line(
      `  ${name} ${String(m.concurrency).padStart(4)} ${m.runsPerSecond.toFixed(0).padStart(8)} ${times}     ${m.cpuPerThousandTotal.toFixed(2)}`,
    );
    const parts = Object.entries(m.cpuPerThousand).map(([part, seconds]) => `${part} ${seconds.toFixed(2)}`);
    line(`      ${parts.join(', ')}`);
  }
  for (const note of notes) line(`  ${note}`);
}
