// Failed runs by their cause: the method, the step, the code, and the message without what differs from run to run. Pure.
import type { ListedRun } from '../../api/shapes.ts';

export interface Cause {
  readonly id: string;
  readonly method: string;
  readonly step: string;
  readonly code: string;
  /** Of the newest run, which comes first. */
  readonly message: string;
  readonly newest: ListedRun;
  readonly runIds: readonly string[];
}

/** `runs`: newest first. The most frequent cause is the first. */
export function causesOf(runs: readonly ListedRun[]): Cause[] {
  const causes = new Map<string, Cause & { readonly runIds: string[] }>();
  for (const run of runs) {
    if (run.status !== 'failed') continue;
    const { code = '', step = '', message = '' } = (run.error ?? {}) as Readonly<Record<string, string>>;
    const id = JSON.stringify([run.method, step, code, withoutNames(message)]);
    const known = causes.get(id);
    if (known === undefined)
      causes.set(id, { id, method: run.method, step, code, message, newest: run, runIds: [run.run_id] });
    else known.runIds.push(run.run_id);
  }
  return [...causes.values()].sort((one, other) => other.runIds.length - one.runIds.length);
}

/** Each word that has a digit is a number or names something: `order 712 of ord_7f3` differs from run to run. */
function withoutNames(message: string): string {
  const words = message.replace(/[\p{L}\p{N}_-]+/gu, (word) => (/\p{N}/u.test(word) ? '…' : word));
  return words.replace(/…(?:[.,:]…)+/g, '…');
}
