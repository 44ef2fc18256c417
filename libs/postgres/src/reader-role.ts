// The role under which a service reads one organization's rows: it owns nothing, cannot log in, and row-level security
// holds for it. Roles belong to the whole server, so no migration file of one database can own it.
import type { TransactionSql } from './sql.ts';

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
