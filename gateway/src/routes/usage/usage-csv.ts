// GET /api/usage/csv: usage as a file for spreadsheets. A day and method is one line, though its runs may be read in
// several pages; their percentiles cannot be added up, and are empty then.
import { Readable } from 'node:stream';
import { bareMethodId, type OrgId, type ProductionId, productionMethodId } from '@methods/base/ids';
import type { UsageRow } from '@methods/proto/scheduler/v1/usage_service_pb';
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { RegistryCalls } from '../../clients/registry-calls.ts';
import { callerOf } from '../../plugins/caller.ts';
import { replies } from '../reply-schemas.ts';
import { asDownload } from '../runs/downloads.ts';
import { Bytes } from '../uploads/upload-schemas.ts';
import { rangeOf, UsageQuery, type UsageRouteParts } from './usage-range.ts';

const CSV = 'text/csv; charset=utf-8';
/** 5,000 runs each. */
const PAGES_MAX = 400;
const NAMES_MAX = 1_000;
const NAMES_A_PAGE = 200;

const COLUMNS = [
  ...['day', 'method', 'name', 'runs', 'succeeded', 'failed', 'cancelled', 'unfinished', 'waited'],
  ...['queued_ms', 'queued_p50_ms', 'queued_p95_ms', 'running_ms', 'running_p50_ms', 'running_p95_ms', 'waiting_ms'],
  ...['answers', 'answering_ms', 'answering_p50_ms', 'answering_p95_ms'],
];

const { cursor: _cursor, ...range } = UsageQuery.properties;
const CsvQuery = Type.Object(range, { additionalProperties: false });

/** In the scope `api`. */
export function addUsageCsv(scope: FastifyInstance, parts: UsageRouteParts): void {
  const { clock } = parts;
  const schema = {
    operationId: 'downloadUsage',
    summary: 'Download usage as CSV',
    description:
      'A line for each day and method. Times are milliseconds, those without p50 or p95 of all runs together. ' +
      'Percentiles of more runs than a page of the list looks at are empty. Of more than 2,000,000 runs, the newest ones.',
    tags: ['organization'],
    querystring: CsvQuery,
    response: { ...replies({}), 200: { description: 'The file.', content: { 'text/csv': { schema: Bytes } } } },
  };
  scope.get('/api/usage/csv', { schema, config: { access: 'viewer' } }, async (request, reply) => {
    const { from, to, method } = request.query as Static<typeof CsvQuery>;
    const asked = rangeOf(from, to, clock.wallMs());
    const methodId = method === undefined ? null : bareMethodId(method);
    const named = methodId === null ? '' : productionMethodId(methodId);
    const { orgId } = callerOf(request);
    // The first page is read before the reply begins, so that a refusal is one.
    const isNone = method !== undefined && methodId === null;
    const lines = isNone ? none() : await begun(linesOf(parts, orgId, { ...asked, method: named }));
    asDownload(reply, CSV, `usage-${new Date(asked.fromMs).toISOString().slice(0, 10)}.csv`);
    return reply.send(Readable.from(lines));
  });
}

async function* none(): AsyncGenerator<string> {
  yield csvLine(COLUMNS);
}

/** With its first line read. */
async function begun(lines: AsyncGenerator<string>): Promise<AsyncGenerator<string>> {
  const first = await lines.next();
  return (async function* () {
    if (!first.done) yield first.value;
    yield* lines;
  })();
}

interface Asked {
  readonly fromMs: number;
  readonly beforeMs: number;
  readonly method: ProductionId | '';
}

interface Line {
  row: UsageRow;
  pages: number;
}

async function* linesOf({ reads, registryCalls }: UsageRouteParts, orgId: OrgId, asked: Asked): AsyncGenerator<string> {
  const open = new Map<string, Line>();
  let cursor = '';
  let names: ReadonlyMap<string, string> | null = null;
  for (let page = 0; page < PAGES_MAX; page++) {
    const { rows, nextCursor } = await reads.usage.list({ orgId, ...asked, cursor });
    if (names === null) {
      names = await methodNames(registryCalls, orgId);
      yield csvLine(COLUMNS);
    }
    for (const row of rows) add(open, row);
    // The next page begins within the oldest day of this one, so younger days are complete.
    const oldestMs = nextCursor === '' ? -1 : Math.min(...rows.map(({ dayMs }) => dayMs), Number.MAX_SAFE_INTEGER);
    for (const [key, line] of open) {
      if (line.row.dayMs <= oldestMs || oldestMs === Number.MAX_SAFE_INTEGER) continue;
      yield csvLine(cellsOf(line, names.get(line.row.method) ?? ''));
      open.delete(key);
    }
    cursor = nextCursor;
    if (cursor === '') return;
  }
}

function add(open: Map<string, Line>, row: UsageRow): void {
  const key = `${row.dayMs} ${row.method}`;
  const known = open.get(key);
  if (known === undefined) return void open.set(key, { row, pages: 1 });
  const sum = { ...known.row };
  for (const name of SUMMED) sum[name] += row[name];
  open.set(key, { row: sum, pages: known.pages + 1 });
}

const SUMMED = [
  ...(['succeeded', 'failed', 'cancelled', 'unfinished', 'waited'] as const),
  ...(['queuedMs', 'runningMs', 'waitingMs', 'answers', 'answeringMs'] as const),
];

function cellsOf({ row, pages }: Line, name: string): (string | number)[] {
  const percentile = (ms: number) => (pages === 1 ? ms : '');
  const { succeeded, failed, cancelled, unfinished, waited } = row;
  return [
    ...[new Date(row.dayMs).toISOString().slice(0, 10), row.method, name],
    ...[succeeded + failed + cancelled + unfinished, succeeded, failed, cancelled, unfinished, waited],
    ...[row.queuedMs, percentile(row.queuedP50Ms), percentile(row.queuedP95Ms)],
    ...[row.runningMs, percentile(row.runningP50Ms), percentile(row.runningP95Ms), row.waitingMs],
    ...[row.answers, row.answeringMs, percentile(row.answeringP50Ms), percentile(row.answeringP95Ms)],
  ];
}

/** Of the newest 1,000 methods. */
async function methodNames({ methods }: RegistryCalls, orgId: OrgId): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (let cursor = ''; names.size < NAMES_MAX; ) {
    const page = await methods.listMethods({ orgId, cursor, limit: NAMES_A_PAGE });
    for (const { methodId, displayName } of page.methods) names.set(productionMethodId(methodId), displayName);
    cursor = page.nextCursor;
    if (cursor === '') break;
  }
  return names;
}

// A cell of a CSV file (RFC 4180) that no spreadsheet takes for a formula.

/** A text that begins like a formula gets an apostrophe in front, which spreadsheets do not show. */
export function csvCell(value: string | number): string {
  const text = String(value);
  const plain = typeof value === 'string' && /^[\s]*[=+\-@\t\r|%]/.test(text) ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

export function csvLine(cells: readonly (string | number)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}
