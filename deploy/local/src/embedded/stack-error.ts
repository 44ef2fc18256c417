// A fault that a person who starts the stack can fix: its message is one clear sentence, printed without a stack trace.

export type StackErrorCode =
  | 'port_taken'
  | 'folder_unusable'
  | 'folder_in_use'
  | 'binary_missing'
  | 'install_failed'
  | 'start_failed'
  | 'interrupted'
  | 'no_stack'
  | 'several_stacks'
  | 'token_refused';

export class StackError extends Error {
  override readonly name = 'StackError';

  constructor(
    readonly code: StackErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
