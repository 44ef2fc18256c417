// A call that did not succeed, as pages show it: what happened, and the request's id for those who look into it.

export interface FailureFinding {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/**
 * `unreachable`: no reply came. `late`: it did not come in time. `not_json`: something between the browser and the server
 * replied, or the reply was cut.
 */
export class Failure extends Error {
  override readonly name = 'Failure';

  constructor(
    readonly code: string,
    message: string,
    /** 0: no reply came. */
    readonly status: number,
    readonly requestId: string | null,
    readonly details: readonly FailureFinding[] = [],
    /** The whole body of the refusal: some carry more, like `current_version`. */
    readonly body: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }
}

export function unreachable(): Failure {
  return new Failure('unreachable', 'The server cannot be reached.', 0, null);
}

export function late(): Failure {
  return new Failure('late', 'The server did not reply in time.', 0, null);
}

export function unreadable(): Failure {
  return new Failure('not_json', 'The reply cannot be read: it was cut, or another server sent it.', 0, null);
}

/** Of a reply that is no success. */
export async function failureOf(response: Response): Promise<Failure> {
  const requestId = response.headers.get('x-request-id');
  const body = await response.json().catch(() => null);
  if (typeof body !== 'object' || body === null || typeof body.error !== 'string') {
    return new Failure('not_json', `The server replied ${response.status}.`, response.status, requestId);
  }
  const { error, message, details } = body as { error: string; message?: unknown; details?: unknown };
  const text = typeof message === 'string' ? message : MESSAGES[error];
  return new Failure(
    error,
    text ?? `The server replied ${response.status} (${error}).`,
    response.status,
    requestId,
    Array.isArray(details) ? (details as FailureFinding[]) : [],
    body,
  );
}

/** Refusals without a sentence of their own. */
const MESSAGES: Readonly<Record<string, string>> = {
  unauthorized: 'You are not signed in, or your session has ended.',
};

export function isFailure(error: unknown, code?: string): error is Failure {
  return error instanceof Failure && (code === undefined || error.code === code);
}
