// Rows for every table of two organizations, made only from the catalog where the columns' checks allow it. Both hold
// the same ids once: what is a key in one organization says nothing about the other.
import { createHash } from 'node:crypto';
import type { Sql } from '@methods/postgres/pool';
import type { Column, Table } from './catalog.ts';

export const ORG_A = idOf('org', 1);
export const ORG_B = idOf('org', 2);

/** Which ids an organization's rows have. Set 1 is in both, set 2 only in A, set 3 only in B. */
export const SETS_A = [1, 2];
export const SETS_B = [1, 3];

export type Row = Readonly<Record<string, unknown>>;

const PREFIXES: Readonly<Record<string, string>> = {
  audit_id: 'aud',
  bulk_id: 'bulk',
  delivery_id: 'dlv',
  endpoint_id: 'ep',
  key_id: 'key',
  run_id: 'run',
  upload_id: 'upl',
  user_id: 'usr',
  version_id: 'ver',
};

type Fixture = (set: number) => Row;
const SOURCE = bytesOf('source');

/** Columns whose checks say more than a type does. A new check that a made-up value does not meet needs a line here. */
const FIXTURES: Readonly<Record<string, Fixture>> = {
  'registry.audit': () => ({ doer_kind: 'user' }),
  'registry.builds': () => ({ due_at: new Date(0) }),
  'registry.creation_requests': (set) => ({ method_id: idOf('', set), version_id: idOf('ver', set) }),
  'registry.endpoints': () => ({ format: 'webhook', events: ['failed'] }),
  'registry.methods': (set) => ({ current_version: idOf('ver', set) }),
  'registry.users': () => ({ first_role: 'member' }),
  'registry.version_locks': () => ({ lock: SOURCE, sha256: sha256(SOURCE) }),
  'registry.versions': () => ({ schema_version: 'method/2', source: SOURCE, sha256: sha256(SOURCE) }),
  'scheduler.bulk_items': () => ({ state: 'todo' }),
  'scheduler.bulks': () => ({ action: 'cancel', state: 'prepared' }),
  'scheduler.questions': () => ({ state: 'open', answer_by: 'team', closed_at_ms: null }),
  'scheduler.runs': () => ({ status: 'queued', answer_by: 'team' }),
  'scheduler.steps': () => ({ status: 'running' }),
};

/** Fills the tables. Every row of a set refers to rows of its set. @throws Error that names the table to see to. */
export async function fillTables(admin: Sql, tables: readonly Table[]): Promise<void> {
  await admin.begin(async (transaction) => {
    // Tables refer to each other in circles: foreign keys rest until all rows are there.
    await transaction.unsafe('set local session_replication_role = replica');
    for (const table of tables) {
      const rows = [...SETS_A.map((set) => rowOf(table, ORG_A, set)), ...SETS_B.map((set) => rowOf(table, ORG_B, set))];
      // A table with one row an organization has no others.
      for (const row of rows.filter((r) => oneOf(table, r, rows))) {
        await transaction`insert into ${transaction(table.name)} ${transaction(row as Record<string, string>)}`.catch(
          (error: unknown) => {
            throw new Error(`${table.name}: its rows need a fixture here: ${(error as Error).message}`);
          },
        );
      }
    }
  });
}

function oneOf(table: Table, row: Row, rows: readonly Row[]): boolean {
  const key = table.uniques.find((index) => index.primary)?.columns ?? [];
  const keyText = (r: Row) => JSON.stringify(key.map((column) => r[column] ?? null));
  // A key the database makes is never the same twice.
  if (key.some((column) => row[column] === undefined)) return true;
  return rows.findIndex((r) => keyText(r) === keyText(row)) === rows.indexOf(row);
}

export function rowOf(table: Table, orgId: string, set: number): Row {
  const row: Record<string, unknown> = {};
  for (const column of table.columns) {
    if (column.name === 'org_id') row[column.name] = orgId;
    else if (!column.optional) row[column.name] = madeValue(table, column, orgId, set);
  }
  return { ...row, ...FIXTURES[table.name]?.(set) };
}

function madeValue(table: Table, { name, type }: Column, orgId: string, set: number): unknown {
  // Where a value must be one in all the world, each organization has its own.
  const global = table.uniques.some((index) => index.columns.includes(name) && !index.columns.includes('org_id'));
  const text = global ? `${name}_${set}_${orgId}` : `${name}_${set}`;
  if (name === 'method_id') return idOf('', set);
  if (name in PREFIXES) return idOf(PREFIXES[name] ?? '', set);
  if (type === 'text') return text;
  if (type === 'bytea') return /_(sha256|hash|digest)$/.test(name) ? sha256(Buffer.from(text)) : bytesOf(text);
  if (type === 'boolean') return false;
  if (/^(smallint|integer|bigint)$/.test(type)) return set;
  if (type.startsWith('timestamp')) return new Date(1_760_000_000_000);
  if (type.endsWith('[]')) return [];
  if (type === 'jsonb') return '{}';
  throw new Error(`${table.name}.${name}: how is a ${type} made?`);
}

function idOf(prefix: string, set: number): string {
  const number = String(set).padStart(26, '0');
  return prefix === '' ? number : `${prefix}_${number}`;
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text.padEnd(64, '.'));
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
