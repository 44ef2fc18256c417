// The registry's database: its schema, plans that suit growing tables, and how every statement of its stores runs.

import { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import { storageFault } from '@methods/postgres/database-fault';
import { withDeadline } from '@methods/postgres/deadline';
import type { OrganizationReader } from '@methods/postgres/organization-reader';
import type { Sql, TransactionSql } from '@methods/postgres/pool';
import { ServiceDatabase } from '@methods/postgres/service-database';
import type { InjectionToken } from 'tsyringe';

/**
 * Every statement here reads a few rows by an index, in its order. A planner without statistics, or with those of the
 * largest organization, would read all rows of an organization and sort them.
 */
const PLANNER = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

export function registryDatabase(url: string, logger: Pick<Logger, 'warn'>): ServiceDatabase {
  return new ServiceDatabase({
    url,
    applicationName: 'method-registry',
    schema: 'registry',
    migrations: new URL('../../migrations/', import.meta.url),
    logger,
    settings: PLANNER,
  });
}

/**
 * Runs every statement of the registry's stores: with a deadline, and with database errors converted to codes that a
 * caller can act on. Statements and values of a failed query stay in its cause, which is never logged whole.
 */
export type Database = Sql;
export const Database: InjectionToken<Database> = Symbol('Database');

/** The tag of a statement, by itself or within a read. */
export type Statements = Sql | TransactionSql;

/** For every read of one organization's rows; look-ups only by hash, and writes, use the Database. */
export type Reader = OrganizationReader;
export const Reader: InjectionToken<Reader> = Symbol('Reader');

const QUERY_DEADLINE_MS = 5_000;

/** Returns the error for the violation of a constraint, by the constraint's name. */
export type Refusals = Readonly<Record<string, () => ServiceError>>;

/** @throws ServiceError: a refusal, `invalid_request` for values Postgres cannot store, `unavailable` without Postgres. */
export async function query<Rows>(statement: PromiseLike<Rows>, refusals: Refusals = {}): Promise<Rows> {
  try {
    return await withDeadline(statement, QUERY_DEADLINE_MS);
  } catch (error) {
    throw meaningOf(error, refusals);
  }
}

function meaningOf(error: unknown, refusals: Refusals): unknown {
  if (error instanceof ServiceError) return error;
  const constraint = (error as { constraint_name?: string } | null)?.constraint_name;
  const refusal = constraint === undefined ? undefined : refusals[constraint];
  if (refusal !== undefined) return refusal();
  // The constraint of every table, including the audit log, whose line is part of each change.
  if (constraint?.endsWith('_org_fkey')) return new ServiceError('not_found', 'There is no such organization.');
  const fault = storageFault(error);
  return fault instanceof ServiceError ? fault : new ServiceError('internal', undefined, { cause: error });
}
