// Precondition: running, the right token, the next report. The folder named was stored before. From here on no
// worker holds the run. A run asked to cancel ends instead of asking.
import { askedCancel } from '../asked-cancel.ts';
import { changed, type Decision } from '../decision.ts';
import { emit, endLease, leave } from '../moves.ts';
import { admitReport } from '../reports.ts';
import type { Run } from '../run.ts';
import type { AskRun } from '../run-command.ts';

export function askRun(run: Run | null, command: AskRun, nowMs: number): Decision {
  const admitted = admitReport(run, command, nowMs);
  if ('decision' in admitted) return admitted.decision;
  const running = { ...admitted.run, lastSeq: command.seq };
  const cancelled = askedCancel(running, nowMs);
  if (cancelled !== null) return cancelled;
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
      },
    },
    [...endLease(running), ...emit(running, 'needs_input')],
  );
}
