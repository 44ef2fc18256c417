// Named places where a test may kill the process, for faults whose moment no outside signal could hit. Inert unless
// armed; only a service's configuration arms one.
import { closeSync, openSync } from 'node:fs';

export type FaultPointName = 'claim-committed';

export interface FaultPoint {
  readonly name: FaultPointName;
  /** The process dies only if this file does not exist yet, and creates it: of many processes and passes, one dies. */
  readonly onceFile: string;
}

let armed: FaultPoint | null = null;

export function armFaultPoint(point: FaultPoint | null): void {
  armed = point;
}

/** Ends this process by SIGKILL, on this line, when the point is armed and has not struck yet. */
export function faultPoint(name: FaultPointName): void {
  if (armed?.name !== name) return;
  try {
    closeSync(openSync(armed.onceFile, 'wx'));
  } catch {
    return;
  }
  process.kill(process.pid, 'SIGKILL');
}
