// A query's own deadline, which postgres.js does not have.
import { abandon } from './abandon.ts';
import { DatabaseDeadlineError } from './database-deadline-error.ts';

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
