// Every code that a caller can get: its gRPC status, its HTTP status, its meaning in a line, and whether the same
// request may be repeated. docs/errors/<code>.md explains cause and remedy; a test keeps the two sets equal.
import type { status } from '@grpc/grpc-js';

interface CatalogEntry {
  /** A name, so that a process that throws errors and makes no calls need not load gRPC. */
  readonly grpc: keyof typeof status;
  readonly http: number;
  /** The default message: a sentence. */
  readonly title: string;
  /** The very same request may be repeated and may then succeed. */
  readonly repeatSafe: boolean;
}

export const catalog = {
  invalid_request: entry('INVALID_ARGUMENT', 400, 'The request cannot be read.'),
  unauthorized: entry('UNAUTHENTICATED', 401, 'The request carries no valid credential.'),
  forbidden: entry('PERMISSION_DENIED', 403, 'The caller may not do this.'),
  not_an_answerer: entry('PERMISSION_DENIED', 403, 'The question is for other people, or for people only.'),
  not_found: entry('NOT_FOUND', 404, 'There is nothing here.'),
  idempotency_conflict: entry('ALREADY_EXISTS', 409, 'This idempotency key was used with other values.'),
  version_conflict: entry('ABORTED', 409, 'The base version is not the current version.'),
  run_not_waiting: entry('FAILED_PRECONDITION', 409, 'The run is not waiting for an answer.'),
  run_finished: entry('FAILED_PRECONDITION', 409, 'The run has finished.'),
  question_changed: entry('FAILED_PRECONDITION', 409, 'Another question is open.'),
  vote_final: entry('FAILED_PRECONDITION', 409, 'This person has answered through a link, which answers once.'),
  stale_sequence: entry('FAILED_PRECONDITION', 409, 'A later record of this run is already stored.'),
  not_published: entry('FAILED_PRECONDITION', 409, 'The method has no published version.'),
  needs_upgrade: entry('FAILED_PRECONDITION', 409, 'The version is in an old format that cannot be started.'),
  not_failed: entry('FAILED_PRECONDITION', 409, 'Only a failed build can be retried.'),
  too_large: entry('RESOURCE_EXHAUSTED', 413, 'A size limit is exceeded.'),
  invalid_method: entry('INVALID_ARGUMENT', 422, 'The method source is not valid.'),
  invalid_inputs: entry('INVALID_ARGUMENT', 422, 'The inputs do not match their declared types.'),
  invalid_answer: entry('INVALID_ARGUMENT', 422, 'The answer does not match its declared type.'),
  invalid_webhook_url: entry('INVALID_ARGUMENT', 422, 'The webhook URL is not allowed.'),
  device_mode_required: entry(
    'FAILED_PRECONDITION',
    422,
    'The organization keeps content on devices; plain content is refused.',
  ),
  device_key_required: entry(
    'FAILED_PRECONDITION',
    422,
    'A run in device mode needs a service key, whose content part seals it.',
  ),
  device_mode_unsupported: entry(
    'FAILED_PRECONDITION',
    422,
    'The method has rules about who answers, which the service cannot apply to sealed answers.',
  ),
  rate_limited: { ...entry('RESOURCE_EXHAUSTED', 429, 'Too many requests.'), repeatSafe: true },
  internal: entry('INTERNAL', 500, 'Something failed on our side.'),
  unavailable: { ...entry('UNAVAILABLE', 503, 'A part of the service is down for a moment.'), repeatSafe: true },
  /** Worker stream only: the attempt's token is no longer current, so the worker stops that run at once. */
  stale_attempt: entry('ABORTED', 409, 'Another attempt of this run has begun.'),
  /** Node to node only: the node does not own the run's shard. */
  wrong_shard: { ...entry('UNAVAILABLE', 503, 'Another node owns this run.'), repeatSafe: true },
} as const satisfies Record<string, CatalogEntry>;

export type ErrorCode = keyof typeof catalog;

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(catalog, text);
}

function entry(grpc: keyof typeof status, http: number, title: string): CatalogEntry {
  return { grpc, http, title, repeatSafe: false };
}
