// Precondition: running, the right token, the next report. A run asked to cancel ends cancelled, whatever the
// worker found.
import { changed, type Decision } from '../decision.ts';
import { emit, endLease, leave, toCancelled, toFailed } from '../moves.ts';
import { admitReport } from '../reports.ts';
import type { Run } from '../run.ts';
import type { FinishRun } from '../run-command.ts';

export function finishRun(run: Run | null, command: FinishRun, nowMs: number): Decision {
  const admitted = admitReport(run, command, nowMs);
  if ('decision' in admitted) return admitted.decision;
  const running = { ...admitted.run, lastSeq: command.seq };
  if (running.cancelRequested) {
    const end = toCancelled(running, nowMs);
    return changed(end.run, end.effects);
  }
  if (command.outcome.status === 'failed') {
    const end = toFailed(running, command.outcome.error, nowMs);
    return changed(end.run, end.effects);
  }
  return changed({ ...leave(running, nowMs), status: 'succeeded', resultJson: command.outcome.resultJson }, [
    ...endLease(running),
    ...emit(running, 'succeeded'),
  ]);
}
