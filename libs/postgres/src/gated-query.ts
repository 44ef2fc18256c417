// One query of a pool: it waits at the gate, is sent by the pool that is current then, and can be abandoned. The
// library's own `cancel` is not used: it hides a promise that rejects when its second connection fails, which ended
// every process of a stalled server at the same moment, and it loses a connection whose first query it cancels.
import { abandonable, DatabaseDeadlineError } from './deadline.ts';
import type { QueryGate } from './query-gate.ts';
import type { Session } from './server-messages.ts';
import { breakOffSession } from './watched-socket.ts';

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
 * Passes on values that are not queries, such as `sql(columns)`. Sends nothing yet: a query is sent when it is awaited.
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
