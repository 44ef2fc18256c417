// Named places where a test may kill the process, for faults at times that no outside signal could hit. They do nothing
// unless armed; only a service's configuration arms one.
import { closeSync, openSync } from 'node:fs';

export const FAULT_POINTS = ['claim-committed', 'granted-early'] as const;
export type FaultPointName = (typeof FAULT_POINTS)[number];

export interface FaultPoint {
  readonly names: readonly FaultPointName[];
  /**
   * The process dies only if this file does not exist yet, and creates it: of many processes and passes, only one dies.
   */
  readonly onceFile: string;
}

let armed: FaultPoint | null = null;

export function armFaultPoint(point: FaultPoint | null): void {
  armed = point;
}

/** Kills this process by SIGKILL, on this line, when the point is armed and none has fired yet. */
export function faultPoint(name: FaultPointName): void {
  if (!armed?.names.includes(name)) return;
  try {
    closeSync(openSync(armed.onceFile, 'wx'));
  } catch {
    return;
  }
  process.kill(process.pid, 'SIGKILL');
}
