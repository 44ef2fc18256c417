// A query's own deadline has passed.

/** The query may still have been executed: a writer must find out (an ambiguous commit). */
export class DatabaseDeadlineError extends Error {
  override readonly name = 'DatabaseDeadlineError';
  readonly code = 'DEADLINE_EXCEEDED';
}
