// Records of runs on people's own computers, in registry.local_runs: one row for each run, overwritten only by later
// records.
import { isId, type MethodId, type OrgId, type RunId, type VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { inject, injectable } from 'tsyringe';
import { type Doer, party } from '../audit/audit-entry.ts';
import type { Inspection, LocalRun } from '../local-run/local-run.ts';
import { type Page, type PageRequest, pageOf } from '../page/page.ts';
import { auditRow } from './audit-store.ts';
import { Database, query, Reader, type Statements } from './registry-database.ts';

export interface NewLocalRunRecord {
  readonly orgId: OrgId;
  readonly runId: RunId;
  readonly methodId: MethodId;
  readonly versionId: VersionId;
  readonly sequence: number;
  readonly inspection: Inspection;
  readonly doer: Doer;
}

export interface LocalRunSelection {
  readonly orgId: OrgId;
  /** Null: of all methods. */
  readonly methodId: MethodId | null;
  /** Empty: in any. */
  readonly status: string;
  readonly page: PageRequest;
}

interface LocalRunRow {
  readonly org_id: OrgId;
  readonly run_id: RunId;
  readonly method_id: MethodId;
  readonly version_id: VersionId;
  readonly sequence: number;
  readonly status: LocalRun['status'];
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly created_by: string;
  readonly created_by_name: string | null;
}

@injectable()
export class LocalRunStore {
  constructor(
    @inject(Database) private readonly sql: Database,
    @inject(Reader) private readonly reader: Reader,
  ) {}

  /**
   * Replaces an earlier record. Storing the same record again changes nothing.
   * @throws ServiceError not_found: no such version. stale_sequence with the fact `sequence`: the stored one is later,
   * or
   *    has this sequence with other content. invalid_request: the run belongs to another version.
   */
  async put(record: NewLocalRunRecord): Promise<LocalRun> {
    const { orgId, runId, methodId, versionId, sequence, inspection, doer } = record;
    const { sql } = this;
    const kept = await query(
      sql`
        with kept as (
          insert into registry.local_runs as r
            (org_id, run_id, method_id, version_id, sequence, inspection, status, created_by)
          values (${orgId}, ${runId}, ${methodId}, ${versionId}, ${sequence}, ${inspection.json}, ${inspection.status},
            ${doer.id})
          on conflict on constraint local_runs_pkey do update
          set sequence = excluded.sequence, inspection = excluded.inspection, status = excluded.status, updated_at = now()
          where r.sequence < excluded.sequence
            and r.method_id = excluded.method_id and r.version_id = excluded.version_id
          returning org_id, run_id, sequence, status
        )
        ${auditRow(
          sql,
          { doer, action: 'run.record', targetKind: 'run' },
          {
            source: 'kept',
            targetId: sql`run_id`,
            before: sql`null`,
            after: sql`jsonb_build_object('sequence', sequence, 'status', status)`,
          },
        )}`,
      { local_runs_version_fkey: () => new ServiceError('not_found', 'There is no such version.') },
    );
    const [row] = await query(
      this.reader.read(
        orgId,
        (sql) => sql<(LocalRunRow & { same: boolean })[]>`
          select ${columns(sql)}, r.inspection = ${inspection.json} as same
          from registry.local_runs r where r.org_id = ${orgId} and r.run_id = ${runId}`,
      ),
    );
    if (row === undefined) throw noSuchRun();
    if (row.method_id !== methodId || row.version_id !== versionId) {
      throw new ServiceError('invalid_request', 'The run is one of another version: a run stays on one.');
    }
    // A later one may have arrived since.
    if (kept.count > 0) return { ...toLocalRun(row), sequence };
    if (row.sequence !== sequence || !row.same) {
      throw new ServiceError('stale_sequence', undefined, { facts: { sequence: String(row.sequence) } });
    }
    return toLocalRun(row);
  }

  /** @throws ServiceError not_found. */
  async find(orgId: OrgId, runId: RunId): Promise<{ run: LocalRun; inspectionJson: string }> {
    const [row] = await query(
      this.reader.read(
        orgId,
        (sql) => sql<(LocalRunRow & { inspection: string })[]>`
          select ${columns(sql)}, r.inspection
          from registry.local_runs r where r.org_id = ${orgId} and r.run_id = ${runId}`,
      ),
    );
    if (row === undefined) throw noSuchRun();
    return { run: toLocalRun(row), inspectionJson: row.inspection };
  }

  /** Newest first. */
  async list({ orgId, methodId, status, page }: LocalRunSelection): Promise<Page<LocalRun>> {
    const below = page.below === null ? null : splitKey(page.below);
    const rows = await query(
      this.reader.read(
        orgId,
        (sql) => sql<LocalRunRow[]>`
          select ${columns(sql)} from registry.local_runs r
          where r.org_id = ${orgId}
            ${methodId === null ? sql`` : sql`and r.method_id = ${methodId}`}
            ${status === '' ? sql`` : sql`and r.status = ${status}`}
            ${below === null ? sql`` : sql`and (r.created_at, r.run_id) < (${below.createdAt}, ${below.runId})`}
          order by r.created_at desc, r.run_id desc limit ${page.limit + 1}`,
      ),
    );
    return pageOf(rows.map(toLocalRun), page.limit, ({ createdAt, runId }) => `${createdAt.getTime()} ${runId}`);
  }
}

/** Reports whether a cursor belongs to `list`. A run's id begins with its shard, so ids do not sort by time. */
export function isLocalRunKey(key: string): boolean {
  return splitKey(key) !== null;
}

function splitKey(key: string): { createdAt: Date; runId: RunId } | null {
  const [time = '', runId = ''] = key.split(' ');
  const createdAt = new Date(/^\d{1,15}$/.test(time) ? Number(time) : Number.NaN);
  return Number.isNaN(createdAt.getTime()) || !isId('run', runId) ? null : { createdAt, runId };
}

function columns(sql: Statements) {
  return sql`r.org_id, r.run_id, r.method_id, r.version_id, r.sequence, r.status, r.created_at, r.updated_at, r.created_by,
    registry.party_name(r.org_id, r.created_by) as created_by_name`;
}

function toLocalRun(row: LocalRunRow): LocalRun {
  return {
    orgId: row.org_id,
    runId: row.run_id,
    methodId: row.method_id,
    versionId: row.version_id,
    sequence: row.sequence,
    status: row.status,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    createdBy: party(row.created_by, row.created_by_name),
  };
}

function noSuchRun(): ServiceError {
  return new ServiceError('not_found', 'There is no such run.');
}
