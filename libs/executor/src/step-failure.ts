// How a step fails: one of the language's error kinds and a message that is safe to store.

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
  | 'internal';

export interface StepError {
  readonly kind: ErrorKind;
  readonly message: string;
  /** HTTP status of kind `http`. */
  readonly status?: number;
  /** 1-based line of the method's source. */
  readonly line?: number;
  /** Stack lines of the author's code, with the source's line numbers. */
  readonly stack?: string;
}

/** Thrown inside a step; becomes the step's recorded error. The message is masked before it is stored. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure';

  constructor(
    readonly kind: ErrorKind,
    message: string,
    readonly detail: { readonly status?: number; readonly line?: number; readonly stack?: string } = {},
  ) {
    super(message);
  }
}
