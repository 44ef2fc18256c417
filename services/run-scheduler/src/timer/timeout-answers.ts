// Records in the audit log which questions their deadline answered: no person and no program asked for it, so no gateway
// records it. The row of such a question says that it is not recorded, until the registry has the line: a line that its
// node loses is sent again by another one, with the same id.
import type { Clock, Timer } from '@methods/base/clock';
import { idLike } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import { type Act, type AuditLog, LINES_MAX_A_CALL } from '@methods/service/audit-log';
import { openQuestionOf } from '../run/question.ts';
import type { Run } from '../run/run.ts';
import type { TimeoutAnswer, UnrecordedAnswers } from '../store/unrecorded-answers.ts';

const DEADLINE = { kind: 'system', id: 'deadline', ip: '', requestId: '' } as const;
/** A younger one is on its way. */
const LEFT_AFTER_MS = 5_000;
/** Rows are marked together. */
const GATHERED_MS = 100;

export class TimeoutAnswers {
  private recorded: TimeoutAnswer[] = [];
  private marking: Timer | null = null;
  private looking = false;

  constructor(
    private readonly options: {
      readonly audit: Pick<AuditLog, 'record'>;
      readonly rows: Pick<UnrecordedAnswers, 'left' | 'recorded'>;
      readonly clock: Clock;
      /** Only one node looks for lines that others lost. */
      readonly isMine: () => boolean;
      readonly logger: Logger;
    },
  ) {}

  committed(before: Run | null, after: Run): void {
    const question = openQuestionOf(before);
    const receipt = after.answers.at(-1);
    if (question === null || receipt?.channel !== 'timeout' || receipt.questionId !== question.id) return;
    const { orgId, runId } = after.facts;
    void this.record({ orgId, runId, receipt });
  }

  /** Called on a coarse tick: sends what was left. */
  async look(): Promise<void> {
    const { rows, isMine, logger } = this.options;
    if (this.looking || !isMine()) return;
    this.looking = true;
    try {
      for (;;) {
        const left = await rows.left(LEFT_AFTER_MS, LINES_MAX_A_CALL);
        const taken = await Promise.all(left.map((answer) => this.record(answer)));
        await this.mark();
        if (left.length < LINES_MAX_A_CALL || !taken.every(Boolean)) break;
      }
    } catch (error) {
      logger.warn({ error }, 'answers of deadlines are not recorded yet; the next look tries again');
    } finally {
      this.looking = false;
    }
  }

  /** False: the registry is unavailable. A line that it refuses is in the log of this process. */
  private async record(answer: TimeoutAnswer): Promise<boolean> {
    try {
      await this.options.audit.record(lineOf(answer));
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code === 'unavailable') return false;
    }
    this.recorded.push(answer);
    this.marking ??= this.options.clock.after(GATHERED_MS, () => void this.mark());
    return true;
  }

  /** What fails to be marked is sent once more, which changes nothing. */
  private async mark(): Promise<void> {
    this.marking?.cancel();
    this.marking = null;
    const { rows, logger } = this.options;
    const answers = this.recorded.splice(0);
    if (answers.length === 0) return;
    await rows
      .recorded(answers)
      .catch((error: unknown) => logger.warn({ error }, 'recorded answers of deadlines are not marked yet'));
  }
}

/** The facts of the receipt, as for an answer of a person: neither the answer nor a comment. */
function lineOf({ orgId, runId, receipt }: TimeoutAnswer): Act {
  const { questionId, answeredAtMs, formSha256, versionSha256 } = receipt;
  const facts = {
    question_id: questionId,
    channel: 'timeout',
    counted: 'answer',
    ...(formSha256 !== '' && { form_sha256: formSha256 }),
    ...(versionSha256 !== '' && { version_sha256: versionSha256 }),
  };
  const past = { atMs: answeredAtMs, auditId: idLike('aud', answeredAtMs, questionId) };
  return { orgId, doer: DEADLINE, action: 'run.answer', targetId: runId, facts, past };
}
