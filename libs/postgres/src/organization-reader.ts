// Reads one organization's rows, protected twice: by the query's own condition, and by row-level security under a role
// that owns nothing and cannot log in. A query that forgets its condition finds the organization's own rows, and no
// others.
import type { OrgId } from '@methods/base/ids';
import { abandon, abandonable } from './deadline.ts';
import type { Sql, TransactionSql } from './sql.ts';

export interface OrganizationReaderOptions {
  readonly sql: Sql;
  /** A role without login that may select from the service's tables and is subject to their policies. */
  readonly role: string;
}

/** Its queries go through the transaction it is given: any other way out of it is the service's own user. */
export type Reading<Result> = (sql: TransactionSql) => Promise<Result>;

const ROLE = /^[a-z][a-z0-9_]{0,62}$/;

/** Runs a reading as the role, for one organization. Policies see it as `methods.org_id` and fail closed without it. */
export class OrganizationReader {
  constructor(private readonly options: OrganizationReaderOptions) {
    if (!ROLE.test(options.role)) throw new TypeError('not a role name');
  }

  /** One snapshot a query. Costs one round trip more than the reading itself. */
  read<Result>(orgId: OrgId, reading: Reading<Result>): Promise<Result> {
    const { sql, role } = this.options;
    let transaction: Promise<void> | undefined;
    const outcome = new Promise<Result>((resolve, reject) => {
      transaction = sql.begin('read only', async (inner) => {
        // Sent at once without waiting: the reading's first query follows it on the same connection, and fails with it.
        // Both settings end with the transaction.
        const scope = inner`select set_config('role', ${role}, true), set_config('methods.org_id', ${orgId}, true)`;
        const scoped = scope.execute();
        const [result] = await Promise.all([inThisTurn(reading, inner), scoped]);
        // The rows are valid even if the commit fails: no one waits for it.
        resolve(result);
      });
      transaction.catch(reject);
    });
    return abandonable(outcome, () => transaction && abandon(transaction));
  }
}

/** A reading that throws before its first query still leaves the scope's outcome to be awaited. */
async function inThisTurn<Result>(reading: Reading<Result>, sql: TransactionSql): Promise<Result> {
  return await reading(sql);
}

/** Name of the role that reads the tables of a schema. */
export function readerRole(schema: string): string {
  return `${schema}_reader`;
}

/**
 * Creates the role if it is missing and lets the current user act as it. If this user may not do so, fails with a
 * sentence that names the statements an administrator must run. `role` must be a plain name.
 */
export async function ensureReaderRole(transaction: TransactionSql, role: string): Promise<void> {
  await transaction.unsafe(ensuring(role)).simple();
}

const ensuring = (role: string) => `
do $$
declare
  acting constant text := current_setting('role');
begin
  if not exists (select from pg_roles where rolname = '${role}') then
    begin
      create role ${role} nologin;
    exception
      -- Another database of the server made it at this moment.
      when duplicate_object or unique_violation then null;
    end;
  end if;
  if exists (select from pg_roles where rolname = '${role}' and (rolsuper or rolbypassrls)) then
    raise exception 'row-level security does not hold for the role ${role}; run as an administrator: alter role ${role} nosuperuser nobypassrls;';
  end if;
  begin
    perform set_config('role', '${role}', true);
    perform set_config('role', acting, true);
  exception when insufficient_privilege then
    begin
      execute format('grant ${role} to %I', current_user);
    exception
      when unique_violation then null;
    end;
  end;
exception when insufficient_privilege then
  raise exception using errcode = 'insufficient_privilege', message = format(
    'this user may not make the role ${role} or act as it; run as an administrator: create role ${role} nologin (if it is missing); grant ${role} to %I;', current_user);
end
$$`;
