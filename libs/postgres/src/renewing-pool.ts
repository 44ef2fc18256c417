// A pool that is replaced when one of its connections is lost. postgres.js 3.4 reuses the same connection object and
// leaves it dirty: half-written bytes that make every later connect time out, or the old session's error returned for
// the next query (issues 1215 and 1142 of porsager/postgres). So a pool that lost a connection accepts no more queries;
// queries on its other connections finish there, and those that wait at the gate go to the new one.
import type { Socket } from 'node:net';
import { sqlState } from './database-fault.ts';
import { abandon, abandonable, DatabaseDeadlineError } from './deadline.ts';
import { gatedQuery, type LibraryQuery, type QueryGate, type QueryWay, type Send } from './query-gate.ts';
import type { Sql } from './sql.ts';
import { type Begin, safeBegin } from './transaction.ts';

/** How long a replaced pool's other connections may continue. */
const OLD_POOL_ENDS_WITHIN_S = 10;
/** The interval at which a server that stays a reader is asked for a writer: each time costs all connections. */
const DEMOTED_AGAIN_MS = 1_000;
const READ_ONLY = '25006';

export interface PoolLease {
  /** To be called when the pool lost a connection. */
  readonly onLost: () => void;
  /** It has been replaced and must open no more connections. */
  readonly replaced: () => boolean;
  /** Sockets of open and opening connections: they are destroyed with the pool. */
  readonly sockets: Set<Socket>;
}

interface OpenPool {
  readonly sql: Sql;
  readonly sockets: ReadonlySet<Socket>;
  end(options?: { timeout?: number }): Promise<void>;
  lost(): void;
}

/** `open` makes one pool. */
export function renewingPool(gate: QueryGate, open: (lease: PoolLease) => Sql): Sql {
  let ended = false;
  let demotedAtMs = Number.NEGATIVE_INFINITY;
  const endings = new Set<Promise<void>>();
  let current = openNext();

  function openNext(): OpenPool {
    const replaced = () => next !== current;
    const sockets = new Set<Socket>();
    const lost = () => {
      if (ended || replaced()) return;
      current = openNext();
      const ending = next.end({ timeout: OLD_POOL_ENDS_WITHIN_S }).finally(() => endings.delete(ending));
      endings.add(ending);
    };
    const sql = open({ onLost: lost, replaced, sockets });
    const end = async (options?: { timeout?: number }) => {
      await sql.end(options);
      // A connection that was only asked to close waits for an answer that may never come.
      for (const socket of sockets) socket.destroy();
    };
    const next = { sql, sockets, end, lost };
    return next;
  }

  /** The server turned into a reader: behind the same address there is, or soon will be, one that writes. */
  function failed(error: unknown): void {
    if (sqlState(error) !== READ_ONLY || performance.now() - demotedAtMs < DEMOTED_AGAIN_MS) return;
    demotedAtMs = performance.now();
    current.lost();
  }

  /** Under TLS no session is known by its connection: when one hangs, all are broken off. */
  function stuck(): void {
    if (!current.sql.options.ssl) return;
    const { sockets } = current;
    current.lost();
    for (const socket of sockets) socket.destroy(new Error('a query passed its deadline'));
  }

  const way: QueryWay = { gate, send: () => senderOf(current.sql), stuck, failed };

  function begin(args: unknown[]): Promise<unknown> {
    const transaction = gatedTransaction(way, () => current.sql.begin as never, args);
    transaction.catch(failed);
    return transaction;
  }

  async function end(options?: { timeout?: number }): Promise<void> {
    ended = true;
    await Promise.all([current.end(options), ...[...endings].map((ending) => within(ending, options?.timeout))]);
  }

  // The methods of a pool are closures: they need no `this`.
  return new Proxy(current.sql, {
    apply: (_first, self, args) => gatedQuery(Reflect.apply(current.sql, self, args), way),
    get(_first, property) {
      if (property === 'end') return end;
      if (property === 'begin') return (...args: unknown[]) => begin(args);
      if (property === 'unsafe') {
        return (...args: Parameters<Sql['unsafe']>) => gatedQuery(current.sql.unsafe(...args), way);
      }
      if (NOT_SAFE.has(property)) return () => Promise.reject(notSafe(String(property)));
      return Reflect.get(current.sql, property);
    },
  });
}

const NOT_SAFE = new Set<string | symbol>(['reserve', 'listen', 'subscribe', 'file', 'largeObject', 'close']);

function notSafe(property: string): TypeError {
  return new TypeError(`sql.${property} is not available: it does not survive the loss of its connection`);
}

/** Sends a query that is due. */
function senderOf(sql: Sql): Send {
  const { handler } = sql.unsafe('') as unknown as LibraryQuery;
  if (handler === undefined) throw new TypeError('this postgres.js keeps its handler elsewhere');
  return handler;
}

async function within(ending: Promise<void>, timeoutS: number | undefined): Promise<void> {
  if (timeoutS === undefined) return ending;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutS * 1000);
  });
  await Promise.race([ending, late]);
  clearTimeout(timer);
}

// One transaction of a pool on its way: it waits at the gate for a connection, and can be given up before and after.

/** With the arguments of `sql.begin`, and its outcome; `begin` is that of the pool which is current when it begins. */
function gatedTransaction(
  { gate, stuck }: Pick<QueryWay, 'gate' | 'stuck'>,
  begin: () => Begin,
  args: unknown[],
): Promise<unknown> {
  let running: Promise<unknown> | null = null;
  let giveUp = () => {};
  const outcome = new Promise<unknown>((resolve, reject) => {
    const withdraw = gate.enter(() => {
      running = safeBegin(begin(), args, stuck);
      running.then(resolve, reject).finally(() => gate.leave());
    }, reject);
    giveUp = () => {
      if (running !== null) abandon(running);
      else if (withdraw()) reject(new DatabaseDeadlineError('the transaction was withdrawn'));
    };
  });
  return abandonable(outcome, () => giveUp());
}
