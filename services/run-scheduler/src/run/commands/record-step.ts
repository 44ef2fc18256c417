// Precondition: running, the right token, the next report. Records are accepted after a cancel was requested: the step
// did happen.
import { changed, type Decision, refused } from '../decision.ts';
import { fitsBeside } from '../recorded-size.ts';
import { admitReport } from '../reports.ts';
import type { Run } from '../run.ts';
import type { RecordStep } from '../run-command.ts';
import { withWaiting } from '../step-states.ts';

export function recordStep(run: Run | null, command: RecordStep, nowMs: number): Decision {
  const admitted = admitReport(run, command, nowMs);
  if ('decision' in admitted) return admitted.decision;
  const { step, seq, outJson, outWithheld, logTail } = command;
  const folderId = command.folderId ?? admitted.run.folderId;
  const before = admitted.run.steps.find((known) => known.path === step.path);
  const summary = { ...withWaiting(step, before, admitted.run.answer), attempt: admitted.run.attempts };
  // A step whose out was withheld runs again after a resume and replaces its first record.
  const others = admitted.run.steps.filter((known) => known.path !== step.path);
  if (!fitsBeside(others, summary)) return refused('too_much_recorded');
  return changed(
    { ...admitted.run, lastSeq: seq, folderId, steps: [...others, summary] },
    [],
    [{ seq, summary, outJson, outWithheld, logTail }],
  );
}
