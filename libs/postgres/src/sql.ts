// The types of a pool and of a transaction on it.
import type postgres from 'postgres';

/** Takes `bigint` parameters too. */
interface Types extends Record<string, unknown> {
  bigint: number | bigint;
}
export type Sql = postgres.Sql<Types>;
export type TransactionSql = postgres.TransactionSql<Types>;
