// Reads parts of a run that its view leaves out: how large the values of its steps are, a part of a value, and its
// questions. Sizes and absent values cost no reading of the value itself.
import type { OrgId, QuestionId, RunId } from '@methods/base/ids';
import { withDeadline } from '@methods/postgres/deadline';
import type { OrganizationReader } from '@methods/postgres/organization-reader';
import type { TransactionSql } from '@methods/postgres/pool';
import type { ListedQuestion } from './question-lists.ts';
import type { QuestionState } from './question-rows.ts';

export interface StepSizeRow {
  readonly path: string;
  readonly outBytes: number;
  readonly outWithheld: boolean;
  readonly logBytes: number;
}

export interface ValueAddress {
  readonly orgId: OrgId;
  readonly runId: RunId;
  readonly of: 'inputs' | 'result' | 'output' | 'log';
  readonly step: string;
  readonly offset: number;
  readonly bytes: number;
}

export interface ValuePart {
  /** 0: there is no value. */
  readonly total: number;
  readonly part: Uint8Array;
  readonly withheld: boolean;
  readonly sealed: boolean;
}

export interface QuestionOfRun extends ListedQuestion {
  readonly state: QuestionState;
  readonly closed_at_ms: number | null;
}

interface PartRow {
  readonly total: number;
  readonly part: Uint8Array | null;
  readonly withheld: boolean;
  readonly sealed: boolean;
}

export class RunParts {
  constructor(private readonly options: { readonly reader: OrganizationReader; readonly deadlineMs: number }) {}

  sizes(orgId: OrgId, runId: RunId, paths: readonly string[]): Promise<readonly StepSizeRow[]> {
    return this.read(
      orgId,
      (sql) => sql<StepSizeRow[]>`
        select path, coalesce(octet_length(out_json), 0) as "outBytes", out_withheld as "outWithheld",
          coalesce(octet_length(log_tail), 0) as "logBytes"
        from scheduler.steps where run_id = ${runId} and org_id = ${orgId} and path = any(${[...paths]}::text[])`,
    );
  }

  /** Null: the organization has no such run, or the run no record of such a step. */
  async value(address: ValueAddress): Promise<ValuePart | null> {
    const row = await this.read(address.orgId, async (sql) => {
      const [found] = await partRows(sql, address);
      return found;
    });
    return row === undefined ? null : { ...row, part: row.part ?? new Uint8Array() };
  }

  /** The newest first. */
  questions(orgId: OrgId, runId: RunId, after: QuestionId | '', limit: number): Promise<readonly QuestionOfRun[]> {
    return this.read(
      orgId,
      (sql) => sql<QuestionOfRun[]>`
        select question_id, run_id, method, version_id, step, answer_by, prompt, asked_at_ms::float8, due_at_ms::float8,
          assignee, people_json, answerers_json, votes, on_device, state, closed_at_ms::float8
        from scheduler.questions where run_id = ${runId} and org_id = ${orgId}
          ${after === '' ? sql`` : sql`and question_id < ${after}`}
        order by run_id desc, org_id desc, question_id desc limit ${limit}`,
    );
  }

  private read<Result>(orgId: OrgId, reading: (sql: TransactionSql) => Promise<Result>): Promise<Result> {
    return withDeadline(this.options.reader.read(orgId, reading), this.options.deadlineMs);
  }
}

function partRows(sql: TransactionSql, { orgId, runId, of, step, offset, bytes }: ValueAddress) {
  // The columns are fixed words; a value is read only if it has such a part.
  const part = (column: string) => sql`
    coalesce(octet_length(${sql.unsafe(column)}), 0) as total,
    case when octet_length(${sql.unsafe(column)}) > ${offset}
      then substring(convert_to(${sql.unsafe(column)}, 'UTF8') from ${offset + 1} for ${bytes}) end as part`;
  if (of === 'inputs' || of === 'result') {
    return sql<PartRow[]>`
      select ${part(of === 'inputs' ? 'inputs_json' : 'result_json')}, false as withheld, content_id is not null as sealed
      from scheduler.runs where run_id = ${runId} and org_id = ${orgId}`;
  }
  return sql<PartRow[]>`
    select ${part(of === 'output' ? 's.out_json' : 's.log_tail')}, s.out_withheld as withheld,
      r.content_id is not null as sealed
    from scheduler.steps s join scheduler.runs r on r.run_id = s.run_id and r.org_id = s.org_id
    where s.run_id = ${runId} and s.org_id = ${orgId} and s.path = ${step}`;
}
