// The only error of this library. The bus is never the source of truth: callers retry or use another way.

export type BusErrorCode =
  /** There is no connection now. */
  | 'not_connected'
  /** JetStream did not confirm in time, or refused. It may still have stored the message. */
  | 'not_persisted'
  /** Too many messages wait for their confirmation. */
  | 'too_many_in_flight'
  /** Larger than the server takes. */
  | 'too_large';

export class BusError extends Error {
  override readonly name = 'BusError';

  constructor(
    readonly code: BusErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Returns JetStream's number of a refusal, such as 10059 (stream not found); null for any other error. */
export function jetStreamErrorCode(error: unknown): number | null {
  const code = (error as { api_error?: { err_code?: unknown } } | null)?.api_error?.err_code;
  return typeof code === 'number' ? code : null;
}

/** For logs: the client library's code or text, which never holds a payload. */
export function briefError(error: unknown): string {
  const number = jetStreamErrorCode(error);
  const text = error instanceof Error ? error.message : 'unknown';
  return number === null ? text : `${text} (${number})`;
}
