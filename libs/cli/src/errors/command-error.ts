// How a command ends that cannot do its task: a sentence, perhaps a hint, and an exit code.
import { EXIT, type ExitCode } from './exit-code.ts';

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
