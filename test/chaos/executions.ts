// The file in which the steps of these methods write down when they began and ended.
import { existsSync, readFileSync } from 'node:fs';
import type { Execution } from './history.ts';

/** Each line: run id, step, process id of the worker, id of the execution, `began` or `ended`, milliseconds. */
export function readExecutions(file: string): Execution[] {
  const executions = new Map<string, Execution>();
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  for (const line of lines) {
    const [runId, step, pid, id, what, at] = line.split(' ');
    // A worker that dies may leave half a line.
    if (runId === undefined || step === undefined || id === undefined || at === undefined) continue;
    const began = executions.get(id);
    if (what === 'began') {
      executions.set(id, { runId, step, workerPid: Number(pid), beganMs: Number(at), endedMs: null });
    } else if (began !== undefined) executions.set(id, { ...began, endedMs: Number(at) });
  }
  return [...executions.values()];
}
