// Connections to Postgres, configured so that every statement, lock and idle transaction ends, and so that a silent
// server is noticed: postgres.js itself waits for an answer indefinitely.
import postgres from 'postgres';
import { QueryGate } from './query-gate.ts';
import { renewingPool } from './renewing-pool.ts';
import type { Sql } from './sql.ts';
import { failingSocket, type SocketTarget, watchedSocket } from './watched-socket.ts';

export type { Sql, TransactionSql } from './sql.ts';

interface PoolOptions {
  readonly url: string;
  /** Shown in pg_stat_activity: the node's id or the service's name. */
  readonly applicationName: string;
  /** The maximum of connections. */
  readonly max: number;
  /** Queries and transactions that wait for a connection; more are refused. */
  readonly waitingMax?: number;
  /** The server ends a statement after this; 0 lifts the limit, and the watch over silent connections with it. */
  readonly statementTimeoutMs: number;
  /** Default: half of the statement's time. */
  readonly lockTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** Further session settings, for example the planner's. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** At 16 connections and 5 ms a query the last one waits for 0.6 s. */
const WAITING_MAX = 2_000;
const IDLE_IN_TRANSACTION_MS = 1000;
const KEEPALIVE_S = 5;
/** Added to the statement's time, for the network and a busy server. */
const SILENCE_GRACE_MS = 1000;

/**
 * Opens nothing yet: connections come with the first queries. End it with `sql.end({ timeout: seconds })`. `bigint`
 * columns are numbers where they are safe integers, BigInt beyond. The other features of postgres.js (`reserve`,
 * `listen`, `file` and so on) are not available.
 */
export function openPool(options: PoolOptions): Sql {
  const { statementTimeoutMs, lockTimeoutMs = Math.ceil(statementTimeoutMs / 2) } = options;
  const silentMs = statementTimeoutMs > 0 ? statementTimeoutMs + SILENCE_GRACE_MS : 0;
  const gate = new QueryGate({
    insideMax: options.max,
    waitingMax: options.waitingMax ?? WAITING_MAX,
    waitMaxMs: silentMs,
  });
  return renewingPool(gate, (lease) => {
    const connections = {
      max: options.max,
      connect_timeout: Math.max(1, Math.ceil((options.connectTimeoutMs ?? 5000) / 1000)),
      keep_alive: KEEPALIVE_S,
      // The library's own goes up to 20 s, long after the server is back.
      backoff: (failures: number) => Math.min(0.02 * 2 ** failures, 0.5) * (0.5 + Math.random()),
      // A connection that ends by itself would look like a lost one.
      max_lifetime: null,
      idle_timeout: null,
      onnotice: () => {},
      fetch_types: false,
      types: { bigint: safeBigint },
      connection: {
        application_name: options.applicationName,
        statement_timeout: statementTimeoutMs,
        lock_timeout: lockTimeoutMs,
        idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
        tcp_user_timeout: silentMs,
        jit: 'off',
        ...options.settings,
      },
      // Not in the library's types: a function that gives each connection its socket.
      socket: (target: SocketTarget) => (lease.replaced() ? failingSocket() : watchedSocket(target, silentMs, lease)),
    };
    const sql = postgres(options.url, connections as unknown as postgres.Options<Record<string, never>>);
    addArrayTypes(sql as unknown as Sql);
    return sql as unknown as Sql;
  });
}

const INT8 = 20;

const safeBigint = {
  to: INT8,
  from: [INT8],
  serialize: (value: number | bigint) => value.toString(),
  parse(text: string): number | bigint {
    const value = Number(text);
    return Number.isSafeInteger(value) ? value : BigInt(text);
  },
};

// Array types for a pool. postgres.js 3.4 reads them from the server on each new connection, and a connection lost
// during that rejects a promise that nothing awaits, which ends the process. The built-in ones have fixed numbers.

/** Element type and its array type, as in pg_type: any other array reads as text. */
const BUILT_IN: readonly (readonly [element: number, array: number])[] = [
  [16, 1000], // boolean
  [17, 1001], // bytea
  [18, 1002], // "char"
  [19, 1003], // name
  [20, 1016], // bigint
  [21, 1005], // smallint
  [23, 1007], // integer
  [25, 1009], // text
  [26, 1028], // oid
  [114, 199], // json
  [700, 1021], // real
  [701, 1022], // double precision
  [1042, 1014], // character
  [1043, 1015], // character varying
  [1082, 1182], // date
  [1083, 1183], // time
  [1114, 1115], // timestamp
  [1184, 1185], // timestamptz
  [1186, 1187], // interval
  [1700, 1231], // numeric
  [2950, 2951], // uuid
  [3802, 3807], // jsonb
];

type Parse = ((text: string) => unknown) & { array?: boolean };
type Serialize = (value: unknown) => unknown;

interface Options {
  readonly parsers: Record<number, Parse | undefined>;
  readonly serializers: Record<number, Serialize | undefined>;
  readonly shared: { readonly typeArrayMap: Record<number, number> };
}

interface ArrayFunctions {
  arrayParser(text: string, parse: Parse | undefined, type: number): unknown;
  arraySerializer(values: unknown, serialize: Serialize | undefined, options: Options, type: number): unknown;
}

// The library's own functions, which it does not export by name; its version is pinned.
const { arrayParser, arraySerializer } = (await import(
  new URL('./types.js', import.meta.resolve('postgres')).href
)) as ArrayFunctions;

/** To be called before the first query. */
function addArrayTypes(sql: Sql): void {
  const options = sql.options as unknown as Options;
  for (const [element, array] of BUILT_IN) {
    options.shared.typeArrayMap[element] = array;
    const parse: Parse = (text) => arrayParser(text, options.parsers[element], array);
    options.parsers[array] = Object.assign(parse, { array: true });
    options.serializers[array] = (values) => arraySerializer(values, options.serializers[element], options, array);
  }
}
