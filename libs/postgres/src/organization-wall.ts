// The second protection between organizations: one organization's rows are read as the schema's reader role, which sees
// only the rows of methods.org_id, even in a query that forgets its condition.
import { readerRole } from './reader-role.ts';
import type { TransactionSql } from './sql.ts';

/**
 * Adds row-level security to each table of the schema that has the column `org_id` and no policy yet, and lets the
 * schema's reader role select from it. The current user, who must own the tables, still reads and writes all rows.
 * `schema` must be a plain name, and its reader role must exist.
 */
export async function wallOffOrganizations(transaction: TransactionSql, schema: string): Promise<void> {
  await transaction.unsafe(walling(schema, readerRole(schema))).simple();
}

const walling = (schema: string, role: string) => `
do $$
declare
  organization_table regclass;
begin
  for organization_table in
    select c.oid from pg_class c
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = '${schema}'
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id' and not a.attisdropped
    where c.relkind in ('r', 'p') and not (c.relrowsecurity and c.relforcerowsecurity)
    order by c.relname
  loop
    -- FORCE holds for the owner as well: the service's own user has a policy of its own.
    execute format('alter table %s enable row level security, force row level security', organization_table);
    execute format('create policy service on %s to current_user using (true) with check (true)', organization_table);
    -- Never set, it is null; after a transaction that set it, ''. Neither finds a row.
    execute format('create policy one_organization on %s for select to ${role}
      using (org_id = nullif(current_setting(''methods.org_id'', true), ''''))', organization_table);
    execute format('grant select on %s to ${role}', organization_table);
    grant usage on schema ${schema} to ${role};
  end loop;
end
$$`;
