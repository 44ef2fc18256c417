// Closes the rows of questions that a node of the previous release ended: it does not know such rows, and leaves them
// open.
import type { OrgId, QuestionId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import type { Sql } from '@methods/postgres/pool';

interface Place {
  readonly orgId: OrgId | '';
  readonly answerBy: string;
  readonly questionId: QuestionId | '';
}

interface Swept {
  readonly closed: number;
  readonly org_id: OrgId | null;
  readonly answer_by: string | null;
  readonly question_id: QuestionId | null;
}

const FIRST: Place = { orgId: '', answerBy: '', questionId: '' };
/** Questions in one statement. */
const PAGE = 500;
/** The id of a question is at the start of its run's row; the rest, with its form, is not read. */
const ID_CHARACTERS = 100;

export class OpenQuestionSweep {
  private place = FIRST;
  private sweeping = false;

  constructor(
    private readonly options: {
      readonly sql: Sql;
      /** Only one node does it. */
      readonly isMine: () => boolean;
      readonly logger: Logger;
    },
  ) {}

  /** Called on a coarse tick: checks the next page, and begins again after the last one. */
  async look(): Promise<void> {
    const { sql, isMine, logger } = this.options;
    if (this.sweeping || !isMine()) return;
    this.sweeping = true;
    try {
      const { orgId, answerBy, questionId } = this.place;
      // A commit writes a row and its run together. So an open row in a snapshot whose run does not wait on it was left
      // open, and no commit will write it again.
      const [swept] = await sql<Swept[]>`
        with looked as materialized (
          select org_id, answer_by, question_id, run_id from scheduler.questions
          where state = 'open' and (org_id, answer_by, question_id) > (${orgId}, ${answerBy}, ${questionId})
          order by org_id, answer_by, question_id limit ${PAGE}),
        ended as materialized (
          select l.*, r.state_since_ms, case
            when position(l.question_id in left(coalesce(r.answer_json, ''), ${ID_CHARACTERS})) > 0 then 'answered'
            when r.status = 'cancelled' then 'cancelled' when r.status = 'failed' then 'expired' else 'answered' end as state
          from looked l join scheduler.runs r on r.run_id = l.run_id and (r.org_id = l.org_id) is true
          where r.status <> 'waiting'
            or position(l.question_id in left(coalesce(r.question_json, ''), ${ID_CHARACTERS})) = 0),
        closed as (
          update scheduler.questions q set closed_at_ms = e.state_since_ms, state = e.state from ended e
          where q.run_id = e.run_id and (q.org_id = e.org_id) is true and (q.question_id = e.question_id) is true
            and (q.state = 'open') is true
          returning 1)
        select (select count(*) from closed)::int as closed, l.org_id, l.answer_by, l.question_id from (select 1) one
        left join (select * from looked order by org_id desc, answer_by desc, question_id desc limit 1) l
          on (select count(*) from looked) = ${PAGE}`;
      if (swept !== undefined && swept.closed > 0)
        logger.info({ closed: swept.closed }, 'questions of ended runs are closed');
      const last = swept?.question_id == null ? null : swept;
      this.place =
        last === null
          ? FIRST
          : { orgId: last.org_id ?? '', answerBy: last.answer_by ?? '', questionId: last.question_id ?? '' };
    } catch (error) {
      logger.warn({ error }, 'open questions could not be looked through; the next look tries again');
    } finally {
      this.sweeping = false;
    }
  }
}
