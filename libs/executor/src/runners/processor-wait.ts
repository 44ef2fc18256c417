// How much of its time a process waits for a processor. Where that is much, the machine is the limit, and one more process
// would only make the others wait longer.
import { readFileSync } from 'node:fs';
import { childrenOf } from './process-table.ts';

export class ProcessorWait {
  private lastWaitMs: number;

  constructor(
    private readonly pid: number,
    private lastMs: number,
  ) {
    this.lastWaitMs = processorWaitMs(pid);
  }

  /** Share of the time since the last call, 0 to 1; 0 where the system does not say. */
  shareUntil(nowMs: number): number {
    const waitMs = processorWaitMs(this.pid);
    const share = (waitMs - this.lastWaitMs) / (nowMs - this.lastMs);
    this.lastMs = nowMs;
    this.lastWaitMs = waitMs;
    return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
  }
}

/** Its first child's first child and so on: in a sandbox the process that runs code. */
export function lastChild(pid: number): number {
  const [child] = childrenOf(pid);
  return child === undefined ? pid : lastChild(child);
}

/** Of its first thread, since it started; not a number where the system does not say. */
function processorWaitMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return Number.NaN;
  }
}
