// A witness of executions outside the system: the steps of the test methods append a line to a file whenever they run.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Cluster } from './cluster.ts';

export interface Execution {
  readonly runId: string;
  readonly step: string;
  /** Of the worker it ran in. */
  readonly workerPid: number;
}

export class Ledger {
  readonly path: string;

  constructor(cluster: Cluster, name: string) {
    this.path = cluster.file(`${name}.ledger`);
  }

  executions(runId?: string): Execution[] {
    if (!existsSync(this.path)) return [];
    return readFileSync(this.path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [run = '', step = '', pid = ''] = line.split(' ');
        return { runId: run, step, workerPid: Number(pid) };
      })
      .filter((execution) => runId === undefined || execution.runId === runId);
  }

  /** `first first second` for a run whose first step ran twice. */
  stepsOf(runId: string): string {
    return this.executions(runId)
      .map(({ step }) => step)
      .join(' ');
  }

  /** Runs whose steps did not run exactly as `steps` says. */
  otherThan(steps: string, runIds: readonly string[]): string[] {
    const ran = new Map<string, string[]>();
    for (const { runId, step } of this.executions()) ran.set(runId, [...(ran.get(runId) ?? []), step]);
    return runIds.flatMap((runId) => {
      const found = (ran.get(runId) ?? []).join(' ');
      return found === steps ? [] : [`${runId}: ${found}`];
    });
  }
}

/** A file that a step waits for: it ends when the test says so. */
export class Gate {
  readonly path: string;

  constructor(cluster: Cluster, name: string) {
    this.path = cluster.file(`${name}.gate`);
  }

  open(): void {
    writeFileSync(this.path, '');
  }
}
