// Finds a question by its id, with its content: the row of its run has the content of an open question, its own row
// that of a closed one. One statement reads both, so that a question that closes meanwhile is read completely either
// way.
import type { KeyId, OrgId, QuestionId, RunId } from '@methods/base/ids';
import { withDeadline } from '@methods/postgres/deadline';
import type { OrganizationReader } from '@methods/postgres/organization-reader';
import { type Party, starterOf } from '../run/party.ts';
import type { Receipt } from '../run/receipt.ts';
import type { OpenQuestion } from '../run/run.ts';
import type { ListedQuestion } from './question-lists.ts';
import type { QuestionState } from './question-rows.ts';

export interface FoundQuestion {
  readonly listed: ListedQuestion;
  readonly state: QuestionState;
  readonly closedAtMs: number | null;
  /** null: a node of an earlier release closed it and kept no content. */
  readonly question: OpenQuestion | null;
  /** Only for an answered question, with the whole answer. */
  readonly receipt: Receipt | null;
  /** null: unknown. */
  readonly starter: Party | null;
  readonly metadata: Readonly<Record<string, string>>;
}

interface Row extends ListedQuestion {
  readonly state: QuestionState;
  readonly closed_at_ms: number | null;
  readonly content_json: string | null;
  readonly receipt_json: string | null;
  readonly answer_json: string | null;
  readonly starter_json: string | null;
  readonly key_id: KeyId | '';
  readonly metadata_json: string | null;
}

export class QuestionFinder {
  constructor(private readonly options: { readonly reader: OrganizationReader; readonly deadlineMs: number }) {}

  /** Returns the run of a question, which decides about it; null: the organization has no such question. */
  runOf(orgId: OrgId, questionId: QuestionId): Promise<RunId | null> {
    const reading = this.options.reader.read(orgId, async (sql) => {
      const [row] = await sql<{ run_id: RunId }[]>`
        select run_id from scheduler.questions where org_id = ${orgId} and question_id = ${questionId}`;
      return row?.run_id ?? null;
    });
    return withDeadline(reading, this.options.deadlineMs);
  }

  find(orgId: OrgId, questionId: QuestionId): Promise<FoundQuestion | null> {
    const reading = this.options.reader.read(orgId, async (sql) => {
      const [row] = await sql<Row[]>`
        select q.question_id, q.run_id, q.method, q.version_id, q.step, q.answer_by, q.prompt, q.asked_at_ms::float8,
          q.due_at_ms::float8, q.assignee, q.people_json, q.answerers_json, q.votes, q.on_device, q.state, q.closed_at_ms::float8, q.receipt_json,
          q.answer_json, coalesce(q.question_json, r.question_json) as content_json, r.starter_json, r.key_id,
          r.metadata_json
        from scheduler.questions q join scheduler.runs r on r.run_id = q.run_id and r.org_id = q.org_id
        where q.org_id = ${orgId} and q.question_id = ${questionId}`;
      return row === undefined ? null : foundFrom(row);
    });
    return withDeadline(reading, this.options.deadlineMs);
  }
}

function foundFrom(row: Row): FoundQuestion {
  const receipt = row.receipt_json === null ? null : (JSON.parse(row.receipt_json) as Receipt);
  const starter = row.starter_json === null ? null : (JSON.parse(row.starter_json) as Party);
  return {
    listed: row,
    state: row.state,
    closedAtMs: row.closed_at_ms,
    question: contentOf(row),
    receipt: receipt && { ...receipt, answerJson: row.answer_json ?? receipt.answerJson },
    starter: starterOf({ starter, keyId: row.key_id }),
    metadata: row.metadata_json === null ? {} : (JSON.parse(row.metadata_json) as Record<string, string>),
  };
}

/** The run may have another question by now. */
function contentOf({ question_id: id, content_json: json }: Row): OpenQuestion | null {
  const content = json === null ? null : (JSON.parse(json) as OpenQuestion);
  return content?.id === id ? content : null;
}
