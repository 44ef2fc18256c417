// Distinguishes transient faults of a database from permanent ones: a statement that met a transient one may be
// repeated.
import { sqlState } from './safe-db-error.ts';

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
