// Stores runs in Postgres. Writes have connections of their own, one for each batch in flight. Their planner prefers
// indexes, since plans made on young tables are bad ones for full tables.
import type { OrgId, RunId } from '@methods/base/ids';
import { storageFault } from '@methods/postgres/database-fault';
import { withDeadline } from '@methods/postgres/deadline';
import type { Sql } from '@methods/postgres/pool';
import type { Run } from '../run/run.ts';
import type { ShardEpoch } from '../shard/shard-lease.ts';
import { arrayLiteral } from './array-literal.ts';
import { commitStatement } from './commit-statement.ts';
import {
  type DueRow,
  dueQuestionsQuery,
  dueStretchOf,
  type QueueRow,
  queueHeadsQuery,
  queuePageQuery,
  stretchOf,
} from './indexed-rows.ts';
import type { RunRow } from './run-columns.ts';
import { rowColumns, runFromRow } from './run-row.ts';
import type {
  BatchOutcome,
  DuePlace,
  DueStretch,
  KeptStep,
  QueueCursor,
  QueueKey,
  QueueStretch,
  RunChange,
  RunPlace,
  RunStore,
  TakenRun,
} from './run-store.ts';
import { RunningGroups } from './running-groups.ts';
import { readRunning } from './running-runs.ts';
import {
  type KeptStepRow,
  keptStepsOfRuns,
  keptStepsQuery,
  keysOf,
  receiptsOfRuns,
  receiptsQuery,
  type StepRow,
  stepsKey,
  stepsOfRuns,
} from './step-rows.ts';

export interface PostgresRunStoreOptions {
  readonly writer: Sql;
  readonly reader: Sql;
  /** After this time a commit's outcome counts as unknown. */
  readonly commitDeadlineMs: number;
  readonly readDeadlineMs: number;
}

export class PostgresRunStore implements RunStore {
  private readonly running = new RunningGroups();

  constructor(private readonly options: PostgresRunStoreOptions) {}

  async commit(batch: readonly RunChange[]): Promise<BatchOutcome> {
    const groups = this.running.changes(batch);
    const { text, parameters } = commitStatement(batch, groups);
    const rows = await withDeadline(
      this.options.writer.unsafe<{ held: number[]; done: string[]; now_ms: number }[]>(text, parameters, {
        prepare: true,
      }),
      this.options.commitDeadlineMs,
    );
    const row = rows[0];
    const done = new Set(row?.done);
    this.running.committed(batch, groups, done);
    return { heldShards: new Set(row?.held), done, nowMs: row?.now_ms ?? 0 };
  }

  async load(runIds: readonly RunId[]): Promise<Map<RunId, Run>> {
    const rows = await this.read<RunRow>(`select ${rowColumns} from scheduler.runs where run_id = any($1::text[])`, [
      arrayLiteral(runIds),
    ]);
    return this.withSteps(rows);
  }

  async places(runIds: readonly RunId[]): Promise<Map<RunId, RunPlace>> {
    const rows = await this.read<{ run_id: RunId; org_id: OrgId; revision: number }>(
      `select run_id, org_id, revision from scheduler.runs where run_id = any($1::text[])`,
      [arrayLiteral(runIds)],
    );
    return new Map(rows.map((row) => [row.run_id, { orgId: row.org_id, revision: row.revision }]));
  }

  async loadByKey(keys: readonly { orgId: OrgId; idempotencyHash: Uint8Array }[]): Promise<Map<string, Run>> {
    const rows = await this.read<RunRow>(
      `select ${rowColumns} from scheduler.runs
       where (org_id, idempotency_hash) in (select o, decode(h, 'hex') from unnest($1::text[], $2::text[]) as k(o, h))`,
      [arrayLiteral(keys.map((k) => k.orgId)), arrayLiteral(keys.map((k) => hexOf(k.idempotencyHash)))],
    );
    const runs = await this.withSteps(rows);
    const byKey = new Map<string, Run>();
    for (const run of runs.values()) byKey.set(keyText(run.facts.orgId, run.facts.idempotencyHash), run);
    return byKey;
  }

  async hasContent(orgId: OrgId, contentId: string): Promise<boolean> {
    const rows = await this.read(`select from scheduler.runs where org_id = $1 and content_id = $2`, [
      orgId,
      contentId,
    ]);
    return rows.length > 0;
  }

  async hasRun(orgId: OrgId, runId: RunId): Promise<boolean> {
    return (await this.read(`select from scheduler.runs where run_id = $1 and org_id = $2`, [runId, orgId])).length > 0;
  }

  async keptSteps(orgId: OrgId, runId: RunId): Promise<KeptStep[]> {
    const rows = await this.read<{ path: string; status: string; out_json: string | null; out_withheld: boolean }>(
      `select path, status, out_json, out_withheld from scheduler.steps where run_id = $1 and org_id = $2 order by seq`,
      [runId, orgId],
    );
    return rows.map((r) => ({ path: r.path, status: r.status, outJson: r.out_json, outWithheld: r.out_withheld }));
  }

  async keptStepsOf(runs: readonly { orgId: OrgId; runId: RunId }[]): Promise<Map<RunId, KeptStep[]>> {
    const rows = await this.read<KeptStepRow>(keptStepsQuery, [arrayLiteral(runs.map(({ runId }) => runId))]);
    return keptStepsOfRuns(runs, rows);
  }

  async stepsForPeople(orgId: OrgId, runId: RunId): Promise<string[]> {
    const rows = await this.read<{ step: string }>(
      `select step from scheduler.questions where run_id = $1 and org_id = $2 and people_json is not null`,
      [runId, orgId],
    );
    return rows.map(({ step }) => step);
  }

  async outOfStep(orgId: OrgId, runId: RunId, path: string): Promise<string | null> {
    const [row] = await this.read<{ out_json: string | null }>(
      `select out_json from scheduler.steps where run_id = $1 and org_id = $2 and path = $3`,
      [runId, orgId, path],
    );
    return row?.out_json ?? null;
  }

  runningOf(shards: readonly ShardEpoch[]): Promise<TakenRun[]> {
    return readRunning((text, parameters) => this.read(text, parameters), this.running, shards);
  }

  forget(shards: ReadonlySet<number>): void {
    this.running.forget(shards);
  }

  async queueHeads(queues: readonly QueueKey[], shards: readonly number[]): Promise<QueueStretch[]> {
    const rows = await this.read<QueueRow & { of: number }>(queueHeadsQuery, [
      arrayLiteral(queues.map((queue) => queue.orgId)),
      arrayLiteral(queues.map((queue) => queue.method)),
      arrayLiteral(shards),
    ]);
    const heads: QueueStretch[] = queues.map(() => ({ entries: [], end: null }));
    for (const row of rows) heads[row.of - 1] = stretchOf([row], true);
    return heads;
  }

  async queuePage(
    queue: QueueKey,
    after: QueueCursor,
    shards: readonly number[],
    limit: number,
  ): Promise<QueueStretch> {
    const rows = await this.read<QueueRow>(queuePageQuery, [
      queue.orgId,
      queue.method,
      String(after.queuedAtMs),
      after.runId,
      arrayLiteral(shards),
      String(limit),
    ]);
    return stretchOf(rows, rows.length === limit || rows.at(-1)?.ours === false);
  }

  async dueQuestions(shards: readonly number[], untilMs: number, after: DuePlace): Promise<DueStretch> {
    const rows = await this.read<DueRow>(dueQuestionsQuery, [
      String(Math.round(untilMs)),
      String(Math.round(after.wakeAtMs)),
      after.runId,
    ]);
    return dueStretchOf(rows, new Set(shards));
  }

  async unfinished(orgIds: readonly OrgId[]): Promise<Map<OrgId, number>> {
    const rows = await this.read<{ org_id: OrgId; runs: number }>(
      `select org_id, sum(runs)::float8 as runs from scheduler.unfinished where org_id = any($1::text[]) group by org_id`,
      [arrayLiteral(orgIds)],
    );
    return new Map(rows.map((row) => [row.org_id, row.runs]));
  }

  async clockMs(): Promise<number> {
    const rows = await this.read<{ now_ms: number }>(
      'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms',
      [],
    );
    return rows[0]?.now_ms ?? 0;
  }

  private async withSteps(rows: readonly RunRow[]): Promise<Map<RunId, Run>> {
    // Before a run's first attempt it has no records except those it took over.
    const begun = rows.filter((row) => row.attempts > 0 || row.last_seq > 0).map((row) => row.run_id);
    const found =
      begun.length === 0
        ? []
        : await this.read<StepRow>(
            'select run_id, org_id, view_json from scheduler.steps where run_id = any($1::text[]) order by run_id, seq',
            [arrayLiteral(begun)],
          );
    const steps = await stepsOfRuns(found);
    const answered = rows.filter((row) => row.answer_json !== null);
    const answers = answered.length === 0 ? null : receiptsOfRuns(await this.read(receiptsQuery, keysOf(answered)));
    const runOf = (row: RunRow) => runFromRow(row, steps.get(stepsKey(row)) ?? [], answers?.get(stepsKey(row)));
    return new Map(rows.map((row) => [row.run_id, runOf(row)]));
  }

  private async read<Row extends object>(text: string, parameters: string[]): Promise<Row[]> {
    const query = this.options.reader.unsafe<Row[]>(text, parameters, { prepare: true });
    try {
      return await withDeadline(query, this.options.readDeadlineMs);
    } catch (error) {
      throw storageFault(error);
    }
  }
}

/** Returns the name under which `loadByKey` returns a run. */
export function keyText(orgId: OrgId, idempotencyHash: Uint8Array): string {
  return `${orgId}/${hexOf(idempotencyHash)}`;
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
