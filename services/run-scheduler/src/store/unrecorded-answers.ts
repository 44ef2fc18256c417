// The answers of deadlines whose line the audit log may not have yet: their rows say so from the commit of the answer on.
import type { OrgId, QuestionId, RunId } from '@methods/base/ids';
import { storageFault } from '@methods/postgres/database-fault';
import { withDeadline } from '@methods/postgres/deadline';
import type { Sql } from '@methods/postgres/pool';
import type { Receipt } from '../run/receipt.ts';
import { arrayLiteral } from './array-literal.ts';

export interface TimeoutAnswer {
  readonly orgId: OrgId;
  readonly runId: RunId;
  readonly receipt: Pick<Receipt, 'questionId' | 'answeredAtMs' | 'formSha256' | 'versionSha256'>;
}

interface Row {
  readonly org_id: OrgId;
  readonly run_id: RunId;
  readonly receipt_json: string;
}

export class UnrecordedAnswers {
  constructor(private readonly options: { readonly sql: Sql; readonly deadlineMs: number }) {}

  /** The oldest ones of all organizations: their node may have died. Younger ones are on their way. */
  async left(ageMs: number, limit: number): Promise<TimeoutAnswer[]> {
    const rows = await this.query<Row>(
      `select org_id, run_id, receipt_json from scheduler.questions
       where unrecorded_at_ms is not null and receipt_json is not null
         and unrecorded_at_ms <= (extract(epoch from clock_timestamp()) * 1000)::bigint - $1::bigint
       order by unrecorded_at_ms limit $2`,
      [String(ageMs), String(limit)],
    );
    return rows.map((row) => ({
      ...{ orgId: row.org_id, runId: row.run_id },
      receipt: JSON.parse(row.receipt_json) as Receipt,
    }));
  }

  /** The audit log has their lines. */
  async recorded(answers: readonly TimeoutAnswer[]): Promise<void> {
    await this.query(
      `update scheduler.questions q set unrecorded_at_ms = null
       from unnest($1::text[], $2::text[], $3::text[]) as t(run_id, org_id, question_id)
       where q.run_id = t.run_id and q.org_id = t.org_id and q.question_id = t.question_id`,
      [
        arrayLiteral(answers.map(({ runId }) => runId)),
        arrayLiteral(answers.map(({ orgId }) => orgId)),
        arrayLiteral(answers.map(({ receipt }): QuestionId => receipt.questionId)),
      ],
    );
  }

  private async query<T extends object>(text: string, parameters: string[]): Promise<readonly T[]> {
    try {
      const query = this.options.sql.unsafe<T[]>(text, parameters, { prepare: true });
      return await withDeadline(query, this.options.deadlineMs);
    } catch (error) {
      throw storageFault(error);
    }
  }
}
