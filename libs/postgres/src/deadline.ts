// A query's own deadline, which postgres.js does not have.
import { breakOffSession } from './watched-socket.ts';

/** The query may still have been executed: whoever wrote must find out (an ambiguous commit). */
export class DatabaseDeadlineError extends Error {
  override readonly name = 'DatabaseDeadlineError';
  readonly code = 'DEADLINE_EXCEEDED';
}

/** What postgres.js keeps on a query beside its promise. */
interface RunningQuery {
  readonly active?: boolean;
  readonly state?: { pid: number; secret: number } | null;
  cancel?(): unknown;
}

/**
 * Settles as `query` does, or rejects with DatabaseDeadlineError after `deadlineMs`; then the query is cancelled and
 * its connection broken off (other queries in flight on it fail too). A query still waiting for a connection is
 * withdrawn. Of other promises, such as a whole transaction, only the waiting ends; the session's limits end the rest.
 */
export function withDeadline<T>(query: PromiseLike<T>, deadlineMs: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new DatabaseDeadlineError(`the database did not answer within ${deadlineMs} ms`));
      abandon(query as RunningQuery);
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

function abandon(query: RunningQuery): void {
  if (typeof query.cancel !== 'function') return;
  const session = query.state;
  // Cancelling goes over a connection of its own and may hang or fail like the first.
  if (!session || query.active) void Promise.resolve(query.cancel()).catch(() => {});
  if (session) breakOffSession(session.pid, session.secret);
}
