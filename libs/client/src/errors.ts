// The errors of the library: one base class, and a class for each kind that a program treats differently.

export interface ErrorDetail {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

interface ErrorFacts {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly details?: readonly ErrorDetail[] | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

export class MethodsError extends Error {
  /** The HTTP status; absent when no reply arrived. */
  readonly status: number | undefined;
  /** Names the request in the server's log. */
  readonly requestId: string | undefined;
  readonly details: readonly ErrorDetail[];
  /** The pause that the server asks for. */
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly code: string,
    message: string,
    { status, requestId, details = [], retryAfterMs, cause }: ErrorFacts = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.status = status;
    this.requestId = requestId;
    this.details = details;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The client cannot be made, or called, like this: no request was sent. */
export class ConfigurationError extends MethodsError {}
/** No whole reply arrived: the server is down, or the connection broke. */
export class ConnectionError extends MethodsError {}
export class TimeoutError extends ConnectionError {}
/** The reply is not one that this version of the library knows: of another program, or of another version. */
export class UnexpectedReplyError extends MethodsError {}
export class AuthenticationError extends MethodsError {}
export class PermissionError extends MethodsError {}
export class NotFoundError extends MethodsError {}
export class ConflictError extends MethodsError {}
/** The inputs, the answer or another value are refused; `details` name the fields. */
export class InvalidRequestError extends MethodsError {}
export class RateLimitError extends MethodsError {}
export class ServerError extends MethodsError {}
/**
 * In device mode: `content_key_missing`, another key sealed the value; `sealed_value_damaged`, it was changed or moved;
 * `content_grant_damaged`, the grant of the key that may have sealed it does not open.
 */
export class SealedValueError extends MethodsError {}
/** A webhook that the server did not sign, or that is too old. */
export class WebhookError extends MethodsError {}

const CLASSES: Readonly<Record<number, typeof MethodsError>> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
};

interface Head {
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
}

/** `body`: the parsed reply, if it is JSON. */
export function errorOfReply(status: number, body: unknown, head: Head): MethodsError {
  const { error, message, details } = Object(body) as Record<string, unknown>;
  // Proxies reply to a busy or stopped server's requests in their own form.
  const isOurs = typeof error === 'string' || status >= 500 || status === 429;
  if (!isOurs) return unexpectedReply(status, head.requestId);
  const Kind = CLASSES[status] ?? (status >= 500 ? ServerError : InvalidRequestError);
  const text =
    status === 401
      ? 'The server refuses the service key: it is unknown there, or has been revoked.'
      : typeof message === 'string'
        ? message
        : `The server replied with status ${status}.`;
  const findings = Array.isArray(details) ? (details as ErrorDetail[]) : [];
  const code = typeof error === 'string' ? error : 'unavailable';
  return new Kind(code, text, { status, details: findings, ...head });
}

export function unexpectedReply(status: number, requestId: string | undefined): UnexpectedReplyError {
  const message =
    `The reply (status ${status}) is not one that this version of the library knows. Check baseUrl, and whether a ` +
    'proxy or another version of the service replies there.';
  return new UnexpectedReplyError('unexpected_reply', message, { status, requestId });
}
