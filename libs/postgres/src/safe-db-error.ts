// The parts of a database error that may be logged. postgres.js errors carry the statement, its parameters and, in
// `detail`, row values: content, which never reaches a log.

export interface SafeDbError {
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
