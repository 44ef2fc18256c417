// Precondition: running, the right token, the next report. The folder named was stored before. From here on no
// worker holds the run. A run asked to cancel ends instead of asking.

import { askedCancel } from '../asked-cancel.ts';
import { changed, type Decision } from '../decision.ts';
import { emit, endLease, leave } from '../moves.ts';
import { isRole } from '../party.ts';
import type { AnswerPolicy } from '../policy.ts';
import { admitReport } from '../reports.ts';
import type { Run } from '../run.ts';
import type { AskRun } from '../run-command.ts';

/**
 * A time-out answer that a check of the run refused is not given again: it would be refused at every deadline. Then the
 * deadline fails the question.
 */
function withoutRefused(running: Run, { policy, step }: AskRun): AnswerPolicy | undefined {
  if (policy?.timeoutAnswerJson == null) return policy;
  const last = running.answers.findLast((receipt) => receipt.step === step);
  return last?.channel === 'timeout' ? { ...policy, timeoutAnswerJson: null } : policy;
}

export function askRun(run: Run | null, command: AskRun, nowMs: number): Decision {
  const admitted = admitReport(run, command, nowMs);
  if ('decision' in admitted) return admitted.decision;
  const running = { ...admitted.run, lastSeq: command.seq };
  const cancelled = askedCancel(running, nowMs);
  if (cancelled !== null) return cancelled;
  const policy = withoutRefused(running, command);
  return changed(
    {
      ...leave(running, nowMs),
      status: 'waiting',
      folderId: command.folderId ?? running.folderId,
      question: {
        id: command.questionId,
        step: command.step,
        prompt: command.prompt,
        details: command.details,
        show: command.show,
        formJson: command.formJson,
        askedAtMs: nowMs,
        deadlineAtMs: command.timeoutMs === null ? null : nowMs + command.timeoutMs,
        timeoutText: command.timeoutText,
        ...(command.checks && { checks: command.checks }),
        // The commit of this change.
        askedSeq: running.revision + 1,
        ...(command.formSha256 && { formSha256: command.formSha256 }),
        ...(command.versionSha256 && { versionSha256: command.versionSha256 }),
        ...(policy && { policy, ...onlyAddressOf(policy) }),
      },
    },
    [...endLease(running), ...emit(running, 'needs_input')],
  );
}

/** A question to one person is theirs from the beginning. */
function onlyAddressOf({ to }: AnswerPolicy): { assignee: string } | null {
  const [only] = to;
  return only === undefined || to.length > 1 || isRole(only) ? null : { assignee: only };
}
