// The entrance to a pool: it lets as many queries and transactions in as the pool has connections; the others wait in
// order, and beyond a bound they are refused. postgres.js 3.4 itself queues without a bound, and sends queued queries
// behind others on busy connections, where a `begin` that fills the pipeline or meets a full socket never learns its
// connection: that connection then stays inside a transaction, and later statements on it are lost with it.

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
