// What the database itself says about our tables: columns, keys, policies, rights. Nothing here is a list kept by hand.
import type { Sql } from '@methods/postgres/pool';

export interface Column {
  readonly name: string;
  /** As format_type gives it: `text`, `bytea`, `timestamp with time zone`, `text[]`. */
  readonly type: string;
  /** An insert may leave it out. */
  readonly optional: boolean;
}

export interface UniqueIndex {
  readonly name: string;
  readonly primary: boolean;
  readonly columns: readonly string[];
}

export interface ForeignKey {
  readonly name: string;
  readonly columns: readonly string[];
  /** `schema.table` */
  readonly target: string;
  readonly targetColumns: readonly string[];
}

export interface Policy {
  readonly name: string;
  readonly permissive: string;
  readonly roles: readonly string[];
  readonly command: string;
  readonly using: string | null;
  readonly check: string | null;
}

export interface Table {
  /** `schema.table` */
  readonly name: string;
  readonly schema: string;
  readonly owner: string;
  readonly rowSecurity: boolean;
  readonly forced: boolean;
  readonly columns: readonly Column[];
  readonly uniques: readonly UniqueIndex[];
  readonly foreignKeys: readonly ForeignKey[];
  readonly checks: readonly string[];
  readonly policies: readonly Policy[];
  /** `role: RIGHT` of every role but the owner. */
  readonly rights: readonly string[];
}

type Columns = Omit<Table, 'name' | 'schema' | 'owner' | 'rowSecurity' | 'forced'>;

/** All tables of the schemas, by name. */
export async function readTables(sql: Sql, schemas: readonly string[]): Promise<readonly Table[]> {
  const rows = await sql<(Omit<Table, keyof Columns> & { oid: number })[]>`
    select c.oid, n.nspname || '.' || c.relname as name, n.nspname as schema, c.relowner::regrole::text as owner,
      c.relrowsecurity as "rowSecurity", c.relforcerowsecurity as forced
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${[...schemas]}) and c.relkind in ('r', 'p', 'f') order by name`;
  return await Promise.all(rows.map(async ({ oid, ...table }) => ({ ...table, ...(await columnsOf(sql, oid)) })));
}

async function columnsOf(sql: Sql, oid: number): Promise<Columns> {
  const names = (columns: string, of: string) =>
    sql.unsafe(`array(select a.attname::text from unnest(${columns}) with ordinality k(n, place)
      join pg_attribute a on a.attrelid = ${of} and a.attnum = k.n order by place)`);
  const columns = await sql<Column[]>`
    select attname as name, format_type(atttypid, atttypmod) as type,
      (not attnotnull or atthasdef or attidentity <> '') as optional
    from pg_attribute where attrelid = ${oid} and attnum > 0 and not attisdropped order by attnum`;
  const uniques = await sql<UniqueIndex[]>`
    select i.indexrelid::regclass::text as name, i.indisprimary as primary,
      ${names('i.indkey::int2[]', 'i.indrelid')} as columns
    from pg_index i where i.indrelid = ${oid} and i.indisunique order by name`;
  const foreignKeys = await sql<ForeignKey[]>`
    select conname as name, ${names('conkey', 'conrelid')} as columns, confrelid::regclass::text as target,
      ${names('confkey', 'confrelid')} as "targetColumns"
    from pg_constraint where conrelid = ${oid} and contype = 'f' order by name`;
  const checks = await sql<{ name: string }[]>`
    select conname as name from pg_constraint where conrelid = ${oid} and contype = 'c' order by 1`;
  const policies = await sql<Policy[]>`
    select policyname as name, permissive, roles::text[] as roles, cmd as command, qual as using, with_check as check
    from pg_policies where (quote_ident(schemaname) || '.' || quote_ident(tablename))::regclass = ${oid} order by name`;
  const rights = await sql<{ right: string }[]>`
    select coalesce(nullif(grantee, 0)::regrole::text, 'public') || ': ' || privilege_type as right
    from pg_class, aclexplode(relacl) where pg_class.oid = ${oid} and grantee <> relowner order by 1`;
  return {
    columns,
    uniques,
    foreignKeys,
    checks: checks.map((check) => check.name),
    policies,
    rights: rights.map(({ right }) => right),
  };
}

/** Ways around the policies: views that read as their owner, copies, and functions that act as their owner. */
export async function readDetours(sql: Sql, schemas: readonly string[]): Promise<readonly string[]> {
  const ours = sql`select ns.oid from pg_namespace ns where ns.nspname = any(${[...schemas]})`;
  const rows = await sql<{ detour: string }[]>`
    select 'view ' || c.oid::regclass as detour from pg_class c
    where c.relnamespace in (${ours}) and (c.relkind = 'm'
      or (c.relkind = 'v' and not coalesce(c.reloptions @> '{security_invoker=true}', false)))
    union all
    select 'function ' || p.oid::regprocedure from pg_proc p
    where p.pronamespace in (${ours}) and p.prosecdef`;
  return rows.map(({ detour }) => detour);
}
