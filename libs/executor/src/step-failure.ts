// How a step fails: one of the language's error kinds and a message that is safe to store.
import type { JsonObject } from '@methods/method/json';

export type ErrorKind =
  | 'input'
  | 'expression'
  | 'check'
  | 'out'
  | 'exit'
  | 'exception'
  | 'syntax'
  | 'timeout'
  | 'memory'
  | 'network'
  | 'http'
  | 'secret'
  | 'limit'
  | 'dependency'
  | 'call'
  | 'interrupted'
  | 'worker_lost'
  | 'internal';

export interface StepError {
  readonly kind: ErrorKind;
  readonly message: string;
  /** HTTP status of kind `http`. */
  readonly status?: number;
  /** System code of kind `network` (`ECONNREFUSED`), exit status of kind `exit`. */
  readonly code?: string | number;
  /** 1-based line of the method's source. */
  readonly line?: number;
  /** Stack lines of the author's code, with the source's line numbers. */
  readonly stack?: string;
  /** The server's answer, of kind `http`; masked. */
  readonly reason?: string;
  readonly headers?: JsonObject;
  /** The first KiB. */
  readonly body?: string;
}

export interface StepFailureDetail {
  readonly status?: number;
  /** System code of kind `network` (`ECONNREFUSED`), exit status of kind `exit`. */
  readonly code?: string | number;
  readonly line?: number;
  readonly stack?: string;
  /** The `retry` of the code's `step.fail(message, { retry })`; absent: the kind decides. */
  readonly retry?: boolean;
  /** The server's answer beside its status; masked. */
  readonly answer?: Required<Pick<StepError, 'reason' | 'headers' | 'body'>>;
  /** The server's `Retry-After`. */
  readonly retryAfterMs?: number;
}

/** Thrown inside a step; becomes the step's recorded error. The message is masked before it is stored. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure';

  constructor(
    readonly kind: ErrorKind,
    message: string,
    readonly detail: StepFailureDetail = {},
  ) {
    super(message);
  }
}
