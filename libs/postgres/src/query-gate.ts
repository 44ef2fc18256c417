// The entrance to a pool: it lets as many queries and transactions in as the pool has connections; the others wait in
// order, and beyond a bound they are refused. postgres.js 3.4 itself queues without a bound, and sends queued queries
// behind others on busy connections, where a `begin` that fills the pipeline or meets a full socket never learns its
// connection: that connection then stays inside a transaction, and later statements on it are lost with it.
import { abandonable, DatabaseDeadlineError } from './deadline.ts';
import { breakOffSession, type Session } from './watched-socket.ts';

/** Too many wait already. The query was not sent. */
class TooManyQueriesError extends Error {
  override readonly name = 'TooManyQueriesError';
  readonly code = 'TOO_MANY_QUERIES';

  constructor() {
    super('too many queries wait for the database');
  }
}

/** A query waited too long for a connection. It was not sent. */
class NoConnectionError extends Error {
  override readonly name = 'NoConnectionError';
  readonly code = 'CONNECT_TIMEOUT';

  constructor() {
    super('no connection to the database was free in time');
  }
}

export interface QueryGateOptions {
  readonly insideMax: number;
  readonly waitingMax: number;
  /** How long one may wait; 0: indefinitely. */
  readonly waitMaxMs: number;
}

export class QueryGate {
  private inside = 0;
  private readonly waiting = new Map<() => void, NodeJS.Timeout | undefined>();

  constructor(private readonly options: QueryGateOptions) {}

  /**
   * Calls `go` when there is room, now or later; each call ends with `leave`. `refused` is called instead when there
   * are too many, or after too long. Returns a function that withdraws before either: true when it was still waiting.
   */
  enter(go: () => void, refused: (error: Error) => void): () => boolean {
    const { insideMax, waitingMax, waitMaxMs } = this.options;
    if (this.inside < insideMax) {
      this.inside++;
      go();
    } else if (this.waiting.size >= waitingMax) {
      refused(new TooManyQueriesError());
    } else {
      const late = () => this.waiting.delete(go) && refused(new NoConnectionError());
      this.waiting.set(go, waitMaxMs === 0 ? undefined : setTimeout(late, waitMaxMs));
    }
    return () => this.take(go);
  }

  leave(): void {
    // A query is settled an instant before its connection is free for the next.
    queueMicrotask(() => {
      this.inside--;
      const [next] = this.waiting.keys();
      if (next === undefined || this.inside >= this.options.insideMax) return;
      this.take(next);
      this.inside++;
      next();
    });
  }

  private take(go: () => void): boolean {
    clearTimeout(this.waiting.get(go));
    return this.waiting.delete(go);
  }
}

export type Send = (query: LibraryQuery) => unknown;

/** The fields of postgres.js on a query beside its promise. */
export interface LibraryQuery {
  handler?: Send;
  canceller?: unknown;
  strings: readonly string[];
  args: readonly unknown[];
  resolve(value: unknown): unknown;
  reject(error: unknown): unknown;
  /** The session it was sent to. */
  readonly state?: Session | null;
}

export interface QueryWay {
  readonly gate: QueryGate;
  /** How the current pool sends. */
  readonly send: () => Send;
  /** The connection under way cannot be broken off by itself. */
  readonly stuck: () => void;
  /** Sees each error of a query. */
  readonly failed: (error: unknown) => void;
}

/**
 * One query of a pool: it waits at the gate, is sent by the pool that is current then, and can be abandoned. The
 * library's own `cancel` is not used: it hides a promise that rejects when its second connection fails, which ended
 * every process of a stalled server at the same moment, and it loses a connection whose first query it cancels. Passes
 * on values that are not queries, such as `sql(columns)`. Sends nothing yet: a query is sent when it is awaited.
 */
export function gatedQuery<Query extends object>(given: Query, way: QueryWay): Query {
  const query = given as LibraryQuery;
  if (typeof query.handler !== 'function') return given;
  query.canceller = null;
  let step: 'new' | 'waiting' | 'sent' | 'over' = 'new';
  let withdraw = () => false;

  const go = () => {
    step = 'sent';
    const { resolve, reject } = query;
    const leave = () => {
      if (step === 'over') return;
      step = 'over';
      way.gate.leave();
    };
    query.resolve = (value) => {
      leave();
      return resolve(value);
    };
    query.reject = (error) => {
      leave();
      way.failed(error);
      return reject(error);
    };
    way.send()(query);
  };
  query.handler = () => {
    if (step !== 'new') return;
    step = 'waiting';
    withdraw = way.gate.enter(go, (error) => {
      step = 'over';
      query.reject(error);
    });
  };
  return abandonable(given, () => {
    if (withdraw() || step === 'new') {
      step = 'over';
      query.reject(new DatabaseDeadlineError('the query was withdrawn'));
    } else if (step === 'sent' && query.state) {
      if (!breakOffSession(query.state)) way.stuck();
    } else if (step === 'sent') {
      // Its connection is still being made, and sends what the query holds then.
      query.strings = ['select 1'];
      query.args = [];
    }
  });
}
