// Many open questions of one organization, as rows.
import type { OrgId, QuestionId } from '@methods/base/ids';
import type { Sql } from '@methods/postgres/pool';

export const ASKED_MS = 1_700_000_000_000;

/** Returns the id of the n-th oldest question of an organization. */
export function questionIdOf(n: number): QuestionId {
  return `q_${String(n).padStart(26, '0')}`;
}

/**
 * Inserts questions, the oldest first. Every tenth is for the application, every hundredth is assigned to one of ten
 * people, every thousandth belongs to a rare method, and every second is due.
 */
export async function fillQuestions(sql: Sql, orgId: OrgId, count: number): Promise<void> {
  await sql`
    insert into scheduler.questions (org_id, question_id, run_id, method, version_id, step, answer_by, prompt, asked_at_ms,
      due_at_ms, assignee, state)
    select ${orgId}, 'q_' || lpad(n::text, 26, '0'), 'run_' || lpad(n::text, 26, '0'),
      case when n % 1000 = 0 then 'wf_rare' else 'wf_usual' end, 'ver_1', 'ask',
      case when n % 10 = 9 then 'application' else 'team' end, 'Go on with ' || n || '?', ${ASKED_MS}::bigint + n,
      case when n % 2 = 0 then ${ASKED_MS}::bigint + 1000000 + n end,
      case when n % 100 = 0 then 'usr_' || n / 100 % 10 else '' end, 'open'
    from generate_series(1, ${count}) n`;
}
