// The meaning of the command's exit code.

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
