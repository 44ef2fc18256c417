// How a command ends that cannot do its task: a sentence, perhaps a hint, and an exit code.

/** The command's exit codes. */
export const EXIT = {
  done: 0,
  /** Refused or failed. */
  failed: 1,
  /** The command line itself is wrong. */
  usage: 2,
  warnings: 3,
  /** A run waits for an answer. */
  waiting: 4,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export class CommandError extends Error {
  override readonly name: string = 'CommandError';
  readonly hint: string | undefined;
  readonly exitCode: ExitCode;

  /**
   * `code` is stable and for programs, such as `not_found`; `message` is one sentence without its full stop; `cause` is
   * shown only with --debug.
   */
  constructor(
    readonly code: string,
    message: string,
    detail: { readonly hint?: string | undefined; readonly exitCode?: ExitCode; readonly cause?: unknown } = {},
  ) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.hint = detail.hint;
    this.exitCode = detail.exitCode ?? EXIT.failed;
  }
}

/** The command line itself is wrong. */
export class UsageError extends CommandError {
  constructor(message: string, hint?: string) {
    super('usage', message, { hint, exitCode: EXIT.usage });
  }
}
