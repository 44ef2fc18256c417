// Collects every statement that passes through a Postgres of the test's own, with its actual plan: auto_explain logs
// the plans for any pool, role or prepared statement. Compares what a plan reads with what it returns, and lists the
// statements of the source that never ran.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPool, type Sql } from '@methods/postgres/pool';
import { createDatabase } from './database.ts';
import { countRows, type PlanNode, rowsOf } from './plan-rows.ts';
import { type OwnPostgres, startTestPostgres } from './postgres.ts';
import { until } from './until.ts';

/** The number of rows of a full database: METHODS_STATEMENTS_ROWS if it is set. */
export function statementRows(rows: number): number {
  return Number(process.env.METHODS_STATEMENTS_ROWS ?? rows);
}

export interface LoggedPlan {
  /** On one line. */
  readonly text: string;
  readonly plan: PlanNode;
}

export class StatementPlans {
  private constructor(
    readonly url: string,
    /** A superuser. */
    readonly admin: Sql,
    private readonly server: OwnPostgres,
  ) {}

  static async start(): Promise<StatementPlans> {
    const server = await startTestPostgres({
      shared_preload_libraries: 'auto_explain',
      'auto_explain.log_analyze': 'on',
      'auto_explain.log_buffers': 'on',
      'auto_explain.log_timing': 'off',
      'auto_explain.log_format': 'json',
      'auto_explain.log_nested_statements': 'on',
      logging_collector: 'on',
      log_destination: 'jsonlog',
      log_rotation_size: '0',
      // Statistics are gathered only when a test asks for them.
      autovacuum: 'off',
      // Avoids checkpoints while the test fills the database.
      max_wal_size: '8GB',
    });
    const url = await createDatabase(server.url, 'plans');
    // Has no time limit: filling a large database takes many minutes.
    const settings = { synchronous_commit: 'off' };
    const admin = openPool({ url, applicationName: 'admin', max: 1, statementTimeoutMs: 0, settings });
    return new StatementPlans(url, admin, server);
  }

  async stop(): Promise<void> {
    await this.admin.end({ timeout: 1 });
    await this.server.stop();
  }

  /** The statements of connections opened meanwhile. */
  async during(tour: () => Promise<void>): Promise<LoggedPlan[]> {
    const [row] = await this.admin<{ file: string }[]>`
      select current_setting('data_directory') || '/' || pg_current_logfile('jsonlog') as file`;
    const file = row?.file ?? '';
    const before = readFileSync(file).length;
    await this.admin.unsafe('alter database plans set auto_explain.log_min_duration = 0');
    await tour();
    const last = openPool({ url: this.url, applicationName: 'last', max: 1, statementTimeoutMs: 10_000 });
    await last.unsafe("select 'the last statement'");
    await last.end({ timeout: 1 });
    await this.admin.unsafe('alter database plans reset auto_explain.log_min_duration');
    const logged = () => readFileSync(file).subarray(before).toString();
    await until('the log is written', () => logged().includes("select 'the last statement'"));
    return logged().split('\n').flatMap(planOf);
  }
}

function planOf(line: string): LoggedPlan[] {
  if (!line.includes('plan:')) return [];
  const { message, application_name: from } = JSON.parse(line) as { message: string; application_name?: string };
  if (from === 'admin' || from === 'last') return [];
  const logged = JSON.parse(message.slice(message.indexOf('{'))) as { 'Query Text': string; Plan: PlanNode };
  return [{ text: oneLine(logged['Query Text']), plan: logged.Plan }];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The statements that may read more, and why. */
export interface Allowance {
  /** A part of the statement. */
  readonly statement: string;
  readonly rowsMax: number;
  readonly why: string;
}

const ROWS_FOR_EACH = 10;
const ROWS_FREE = 100;
const BLOCKS_FOR_EACH = 40;
const BLOCKS_FREE = 600;

/** One sentence for each statement that read more than its share of rows or blocks. */
export function wasteful(plans: readonly LoggedPlan[], allowances: readonly Allowance[]): string[] {
  const found = new Map<string, string>();
  for (const { text, plan } of plans) {
    if (!/(scheduler|registry|notifier)\./.test(text)) continue;
    const { read, given, blocks } = countRows(plan);
    const allowance = allowances.find(({ statement }) => text.includes(statement));
    const rowsMax = allowance?.rowsMax ?? ROWS_FREE + ROWS_FOR_EACH * given;
    const blocksMax = BLOCKS_FREE + BLOCKS_FOR_EACH * Math.max(given, allowance?.rowsMax ?? 0);
    if (read <= rowsMax && blocks <= blocksMax) continue;
    found.set(text, `${read} rows and ${blocks} blocks for ${given} rows: ${text.slice(0, 300)} ${shapeOf(plan)}`);
  }
  return [...found.values()];
}

function shapeOf(node: PlanNode): string {
  const name = node['Index Name'] ?? node['Relation Name'] ?? '';
  const removed = node['Rows Removed by Filter'] ?? 0;
  const inner = (node.Plans ?? []).map(shapeOf).join(' ');
  return `(${node['Node Type']} ${name} ${rowsOf(node)}${removed > 0 ? `-${removed}` : ''} ${inner})`;
}

const OF_A_TABLE = /\b(from|into|update|join|using)\s+(scheduler|registry|notifier)\.[a-z_]+/;

/** Parts of statements that occur in the source of a folder but in none of the plans. */
export function neverRun(folder: string, plans: readonly LoggedPlan[]): string[] {
  const ran = [...new Set(plans.map(({ text }) => text))];
  return sourceFiles(folder).flatMap((file) =>
    textsOf(readFileSync(file, 'utf8'))
      .filter((text) => OF_A_TABLE.test(text))
      .map(oneLine)
      .filter((part) => !ran.some((statement) => statement.includes(part)))
      .map((part) => `${file.slice(folder.length)}: ${part}`),
  );
}

/** All strings of a source; a template gives one string for each part between two values. */
function textsOf(source: string): string[] {
  const texts: string[] = [];
  let at = 0;
  const until = (end: RegExp): string => {
    const from = at;
    for (; at < source.length; at++) {
      if (source[at] === '\\') at++;
      else if (end.test(source.slice(at, at + 2))) break;
    }
    return source.slice(from, at);
  };
  const template = (): void => {
    for (;;) {
      texts.push(until(/^(`|\$\{)/));
      if (source[at] !== '$') break;
      at += 2;
      code('}');
    }
  };
  const code = (end: string): void => {
    for (let depth = 0; at < source.length; at++) {
      const two = source.slice(at, at + 2);
      const [one] = two;
      if (two === '//') until(/^\n/);
      else if (two === '/*') at = Math.max(at, source.indexOf('*/', at) + 1);
      else if (one === "'" || one === '"') {
        at++;
        texts.push(until(one === "'" ? /^['\n]/ : /^["\n]/));
      } else if (one === '`') {
        at++;
        template();
      } else if (one === '{') depth++;
      else if (one === '}' && depth-- === 0 && end === '}') break;
    }
    at++;
  };
  code('');
  return texts;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(file))
    .map((file) => join(folder, file));
}
