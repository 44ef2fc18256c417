// Tells the faults of a database that pass from those that stay: a statement that met one of them may be asked again.
import { sqlState } from './safe-db-error.ts';

// Connections (08), deadlocks and lost races (40), full (53), cancelled, stopping or starting (57), locks (55P03).
const PASSING = /^(08|40|53|57|55P03)/;

/** Lost connections and passed deadlines carry a code of their own; faults in our own code carry none. */
export function isPassingFault(error: unknown): boolean {
  const state = sqlState(error);
  return state === null ? typeof (error as { code?: unknown } | null)?.code === 'string' : PASSING.test(state);
}
