import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { facts as FACTS, runs } from '../run/run.fixture.ts';
import { startColumns, updateColumns } from './commit-sections.ts';
import { type ListedRunRow, type RunColumn, type RunRow, runColumns } from './run-columns.ts';
import { listedRun, listedRunColumns } from './run-lists.ts';
import { rowColumns, runFromRow } from './run-row.ts';

const columns = Object.entries<RunColumn>(runColumns);
const MIGRATIONS = new URL('../../migrations/', import.meta.url);

/** Returns the columns of scheduler.runs after all migrations. */
function columnsOfMigrations(): string[] {
  const sql = readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => readFileSync(new URL(name, MIGRATIONS), 'utf8'))
    .join('\n');
  const made = /create table scheduler\.runs \(([\s\S]*?)\n\) with/.exec(sql)?.[1] ?? '';
  const names = [...made.matchAll(/^ {2}([a-z_]+) (?:text|smallint|integer|bigint|boolean|bytea)\b/gm)];
  const added = [...sql.matchAll(/alter table scheduler\.runs add column (?:if not exists )?([a-z_]+)/g)];
  return [...names, ...added].map(([, name]) => name ?? '');
}

const namesIn = (selection: string) => selection.split(', ').map((name) => name.replace('::float8', ''));

test('the table has the columns that the migrations create', () => {
  const made = columnsOfMigrations();
  assert.ok(made.length > 30);
  assert.deepEqual(Object.keys(runColumns).sort(), made.sort());
});

test('each column is written by a start or an update, and read with its row', () => {
  const written = new Set([...startColumns, ...updateColumns].map(({ name }) => name));
  for (const [name] of columns) assert.ok(written.has(name), name);
  assert.deepEqual(namesIn(rowColumns), Object.keys(runColumns));
  const listed = columns.filter(([, column]) => column.listed).map(([name]) => name);
  assert.deepEqual(namesIn(listedRunColumns), listed);
});

test('a fact is read from the column it is written to', () => {
  const facts = { ...FACTS, metadata: { n: '7' }, webhookUrl: 'https://example.com/' };
  const change = { before: null, after: { ...runs.queued, facts } } as never;
  const row: Record<string, unknown> = { status: 'queued', answer_json: null, ending_json: null };
  for (const [name, { start, type }] of columns) {
    const bound = start?.(change) ?? null;
    row[name] = type === 'bytea' ? Uint8Array.from(Buffer.from(String(bound), 'hex')) : bound;
  }
  assert.deepEqual(runFromRow(row as unknown as RunRow, []).facts, facts);
});

test('a listed fact is in the list', () => {
  const row: Record<string, unknown> = { status: 'queued', error_json: null, ending_json: null };
  for (const [name, { start, listed }] of columns) {
    if (listed) row[name] ??= start?.({ before: null, after: runs.queued } as never) ?? null;
  }
  const run = listedRun(row as unknown as ListedRunRow);
  for (const [name, { listed, fact }] of columns)
    assert.ok(!listed || fact === undefined || fact.key in run.facts, name);
});
