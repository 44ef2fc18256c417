// Transactions that survive the loss of their connection. postgres.js 3.4 then sends its `rollback` over the closed
// connection, which ends the process (uncaught, in a timer), or lets later queries of the lost transaction run on a new
// connection, outside of any transaction (issues 1208 and 1216 of porsager/postgres).
import type postgres from 'postgres';
import { abandonable } from './deadline.ts';
import { breakOffSession, type Session } from './watched-socket.ts';

/** A query on a transaction whose connection is lost, or that has ended. It was not sent. */
class TransactionOverError extends Error {
  override readonly name = 'TransactionOverError';
  readonly code = 'CONNECTION_CLOSED';

  constructor() {
    super('the transaction is over');
  }
}

type Work = (transaction: postgres.TransactionSql) => unknown;
export type Begin = (options: string, work: Work) => Promise<unknown>;

interface SentQuery {
  readonly state?: Session | null;
}

interface TransactionState {
  over: boolean;
  /** Its caller has gone: it sends nothing more and is rolled back. */
  abandoned: boolean;
  /** The query that was sent last, while it has no answer. */
  sent: SentQuery | null;
  /** The work has begun: `begin` was answered. */
  begun: boolean;
  /** Rejects when the transaction has failed; never resolves. */
  failed: Promise<never>;
}

/** The fields of postgres.js on a query that was not sent yet. */
interface UnsentQuery extends SentQuery {
  handler?: (query: UnsentQuery) => unknown;
  resolve(value: unknown): unknown;
  reject(error: unknown): unknown;
}

/**
 * Replaces `sql.begin`, with its arguments and its outcome. `stuck` is called when it is abandoned and its connection
 * cannot be closed.
 */
export function safeBegin(begin: Begin, args: unknown[], stuck: () => void): Promise<unknown> {
  const work = args.at(-1) as Work;
  const options = args.length > 1 ? String(args[0]) : '';
  const state: TransactionState = {
    over: false,
    abandoned: false,
    sent: null,
    begun: false,
    failed: new Promise(() => {}),
  };
  const outcome = begin(options, (transaction) => runWork(transaction, work, state));
  // postgres.js rejects the outcome as soon as the connection closes.
  state.failed = outcome.then(
    () => {
      state.over = true;
      return new Promise<never>(() => {});
    },
    (error: unknown) => {
      state.over = true;
      throw error;
    },
  );
  state.failed.catch(() => {});
  return abandonable(outcome, () => {
    state.abandoned = true;
    const session = state.sent?.state;
    if (session ? !breakOffSession(session) : !state.begun) stuck();
  });
}

async function runWork(transaction: postgres.TransactionSql, work: Work, state: TransactionState): Promise<unknown> {
  state.begun = true;
  try {
    if (state.abandoned) throw new TransactionOverError();
    const result = await work(guarded(transaction, state));
    if (state.abandoned) throw new TransactionOverError();
    if (!state.over) return Array.isArray(result) ? await Promise.all(result) : result;
  } catch (error) {
    // A closing connection fails its queries an instant before it fails the transaction.
    await new Promise((resolve) => setImmediate(resolve));
    if (!state.over) throw error;
  }
  // Not settling keeps postgres.js from sending anything more; the outcome is already rejected.
  return new Promise(() => {});
}

function guarded(transaction: postgres.TransactionSql, state: TransactionState): postgres.TransactionSql {
  return new Proxy(transaction, {
    apply: (target, self, args) => guardedQuery(Reflect.apply(target, self, args), state),
    get(target, property) {
      const value = Reflect.get(target, property);
      if (property === 'unsafe' || property === 'file') {
        return (...args: unknown[]) => guardedQuery(Reflect.apply(value, target, args), state);
      }
      if (property === 'savepoint') {
        return (...args: unknown[]) => {
          if (state.over) return Promise.reject(new TransactionOverError());
          const work = args.pop() as Work;
          const inner: Work = (nested) => runWork(nested, work, state);
          return Promise.race([Reflect.apply(value, target, [...args, inner]), state.failed]);
        };
      }
      return value;
    },
  });
}

function guardedQuery(query: UnsentQuery, state: TransactionState): UnsentQuery {
  const send = query.handler;
  // A helper such as `sql(columns)`, not a query.
  if (typeof send !== 'function') return query;
  query.handler = (sent) => {
    if (state.over || state.abandoned) return sent.reject(new TransactionOverError());
    const { resolve, reject } = sent;
    const answered = () => {
      if (state.sent === sent) state.sent = null;
    };
    state.sent = sent;
    sent.resolve = (value) => {
      answered();
      return resolve(value);
    };
    sent.reject = (error) => {
      answered();
      if (endsConnection(error)) state.over = true;
      return reject(error);
    };
    return send(sent);
  };
  return query;
}

function endsConnection(error: unknown): boolean {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  if (severity !== undefined) return severity === 'FATAL' || severity === 'PANIC';
  return typeof code === 'string' && /^(CONNECT|E[A-Z]+$)/.test(code);
}
