// The faults of a database: what of them may be logged, which are transient, and what a caller gets. postgres.js errors
// carry the statement, its parameters and, in `detail`, row values: content, which never reaches a log.
import { ServiceError } from '@methods/errors/service-error';

interface SafeDbError {
  /** SQLSTATE, or a code of the connection such as CONNECTION_CLOSED; `unknown` when there is none. */
  readonly code: string;
  readonly severity?: string;
  readonly constraint?: string;
  readonly table?: string;
}

const SAFE = /^[A-Za-z0-9_.]{1,128}$/;

export function safeDbError(error: unknown): SafeDbError {
  const source = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>;
  const pick = (name: string) => {
    const value = source[name];
    return typeof value === 'string' && SAFE.test(value) ? value : undefined;
  };
  const severity = pick('severity');
  const constraint = pick('constraint_name');
  const table = pick('table_name');
  return {
    code: pick('code') ?? 'unknown',
    ...(severity && { severity }),
    ...(constraint && { constraint }),
    ...(table && { table }),
  };
}

/**
 * SQLSTATE of an error, or null: for branching on unique violations (23505), deadlocks (40P01) and so on. The system's
 * own codes, such as EPIPE, may have five capitals too; no SQLSTATE begins with an E.
 */
export function sqlState(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code) ? code : null;
}

// Distinguishes transient faults of a database from permanent ones: a statement that met a transient one may be
// repeated.

/**
 * Connections (08), read-only after a failover (25006), a session's own limits (25P02 to 25P04), deadlocks and lost
 * races (40), full disk, memory or connections (53), locks (55P03), cancelled, stopping or starting (57), the server's
 * own input and output (58).
 */
const PASSING = /^(08|25006|25P0[234]|40|53|55P03|57|58)/;

/** Connection errors of the system and of postgres.js, and those of our own pool. */
const OF_CONNECTION = /^(CONNECT_TIMEOUT|CONNECTION_[A-Z]+|DEADLINE_EXCEEDED|TOO_MANY_QUERIES|E(?!RR_)[A-Z0-9_]+)$/;
/** TLS and closed streams, as Node names them, and certificates, as OpenSSL does. */
const OF_TLS = /^(ERR_(SSL|TLS|SOCKET|STREAM)_|.*CERT|.*SIGNED|UNABLE_TO_)/;

/** A fault in our own code has no code, or none of these. */
export function isPassingFault(error: unknown): boolean {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  // The server ended the session, or gave none.
  if (severity === 'FATAL' || severity === 'PANIC') return true;
  const state = sqlState(error);
  if (state !== null) return PASSING.test(state);
  return typeof code === 'string' && (OF_CONNECTION.test(code) || OF_TLS.test(code));
}

// The error of a failed statement for its caller.

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
