// Distinguishes faults that end by themselves, for which a delivery waits, from those that the same try meets again: that
// try counts, so that it is repeated less and less, and ends.
import { asServiceError } from '@methods/errors/service-error';
import { storageFault } from '@methods/postgres/database-fault';

const PASSING = ['unavailable', 'rate_limited'];

/** Of the registry or of Postgres. */
export function isPassing(error: unknown): boolean {
  return PASSING.includes(asServiceError(storageFault(error)).code);
}
