// A query's own deadline, which postgres.js does not have, and the abandoning of work whose caller no longer waits.

/**
 * Settles as `query` does, or rejects with DatabaseDeadlineError after `deadlineMs`; then the query is cancelled and
 * its connection closed. A query or transaction still waiting for a connection is withdrawn, and a transaction in
 * progress sends nothing more. For other promises only the wait ends.
 */
export function withDeadline<T>(query: PromiseLike<T>, deadlineMs: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new DatabaseDeadlineError(`the database did not answer within ${deadlineMs} ms`));
      abandon(query);
    }, deadlineMs);
    query.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

// Abandons work whose caller no longer waits: queries not sent yet are never sent, and those in flight are cancelled.

const ABANDON = Symbol('abandon');

/** Work that can be given up: `abandon` is called at most once, and the work then settles as it likes. */
export function abandonable<Work extends object>(work: Work, abandon: () => void): Work {
  return Object.assign(work, { [ABANDON]: abandon });
}

/** Does nothing where the work does not know how. */
export function abandon(work: object): void {
  (work as { [ABANDON]?: () => void })[ABANDON]?.();
}

// A query's own deadline has passed.

/** The query may still have been executed: a writer must find out (an ambiguous commit). */
export class DatabaseDeadlineError extends Error {
  override readonly name = 'DatabaseDeadlineError';
  readonly code = 'DEADLINE_EXCEEDED';
}
