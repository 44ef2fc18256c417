// The error of a failed statement for its caller.
import { ServiceError } from '@methods/errors/service-error';
import { isPassingFault } from './passing-fault.ts';
import { sqlState } from './safe-db-error.ts';

/**
 * `unavailable` while Postgres is unavailable, `invalid_request` for a value it cannot store; other errors are returned
 * unchanged.
 */
export function storageFault(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  // Class 22 is, for example, NUL in a text that earlier checks let through.
  if (sqlState(error)?.startsWith('22')) {
    return new ServiceError('invalid_request', 'A value cannot be stored.', { cause: error });
  }
  return isPassingFault(error) ? new ServiceError('unavailable', undefined, { cause: error }) : error;
}
