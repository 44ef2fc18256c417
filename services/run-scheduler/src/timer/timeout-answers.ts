// Records in the audit log which questions their deadline answered: no person and no program asked for it, so no gateway
// records it.
import type { AuditLog } from '@methods/service/audit-log';
import { openQuestionOf } from '../run/question.ts';
import type { Run } from '../run/run.ts';

const DEADLINE = { kind: 'system', id: 'deadline', ip: '', requestId: '' } as const;

export class TimeoutAnswers {
  constructor(private readonly audit: Pick<AuditLog, 'note'>) {}

  /** The facts of the receipt, as for an answer of a person: neither the answer nor a comment. */
  committed(before: Run | null, after: Run): void {
    const question = openQuestionOf(before);
    const receipt = after.answers.at(-1);
    if (question === null || receipt?.channel !== 'timeout' || receipt.questionId !== question.id) return;
    const { orgId, runId } = after.facts;
    const { questionId, formSha256, versionSha256 } = receipt;
    const facts = {
      question_id: questionId,
      channel: 'timeout',
      counted: 'answer',
      ...(formSha256 !== '' && { form_sha256: formSha256 }),
      ...(versionSha256 !== '' && { version_sha256: versionSha256 }),
    };
    this.audit.note({ orgId, doer: DEADLINE, action: 'run.answer', targetId: runId, facts });
  }
}
