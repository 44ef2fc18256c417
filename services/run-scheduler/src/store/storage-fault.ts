// What a failed read or write of ours means to whoever asked for it.
import { ServiceError } from '@methods/errors/service-error';
import { isPassingFault } from '@methods/postgres/passing-fault';
import { sqlState } from '@methods/postgres/safe-db-error';

/** `unavailable` while Postgres is away, `invalid_request` for a value it cannot store; anything else stays as it is. */
export function storageFault(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  // Class 22 is such as NUL in a text, whatever gate it slipped through.
  if (sqlState(error)?.startsWith('22')) {
    return new ServiceError('invalid_request', 'A value cannot be stored.', { cause: error });
  }
  return isPassingFault(error) ? new ServiceError('unavailable', undefined, { cause: error }) : error;
}
