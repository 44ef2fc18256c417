// What the steps themselves wrote down: two owners never work on one attempt at a time, and a step whose record was
// kept is not given to another worker.
import { type Execution, groupedBy, type History, lastSeen } from './history.ts';

/** Times of two processes of one machine agree within this. */
const CLOCK_MS = 50;

/** Sentences about what went wrong; none when all is well. */
export function checkExecutions(history: History): string[] {
  const byRun = groupedBy(history.executions, ({ runId }) => runId);
  const recordedByRun = groupedBy(history.recorded, ({ runId }) => runId);
  const attempts = new Map(history.lives.map((life) => [lastSeen(life)?.runId, lastSeen(life)?.attempts]));
  return [...byRun].flatMap(([runId, executions]) => {
    const inOrder = executions.toSorted((a, b) => a.beganMs - b.beganMs);
    const recorded = new Map((recordedByRun.get(runId) ?? []).map(({ step, recordedMs }) => [step, recordedMs]));
    return [
      // A worker that lost its lease may not know it yet, so only runs that never lost one are free of overlap.
      ...(attempts.get(runId) === 1 ? [...overlaps(inOrder), ...repeats(inOrder)] : []),
      ...afterRecord(inOrder, recorded, history.notBeforeMs),
    ];
  });
}

function overlaps(executions: readonly Execution[]): string[] {
  return executions.flatMap((one) =>
    executions
      .filter(
        (other) =>
          other.workerPid !== one.workerPid &&
          one.endedMs !== null &&
          other.beganMs > one.beganMs &&
          other.beganMs < one.endedMs,
      )
      .map((other) => `${one.runId}: ${other.step} began while ${one.step} ran elsewhere, in one attempt`),
  );
}

/** A step that came to its end runs again only in a next attempt. */
function repeats(executions: readonly Execution[]): string[] {
  return executions.flatMap((one) =>
    executions
      .filter((other) => other.step === one.step && one.endedMs !== null && other.beganMs > one.endedMs)
      .map(() => `${one.runId}: ${one.step} ran again after its end, in one attempt`),
  );
}

/** A worker that was there before the record may hold an old grant and not know better; a younger one cannot. */
function afterRecord(
  executions: readonly Execution[],
  recorded: ReadonlyMap<string, number>,
  notBeforeMs: ReadonlyMap<number, number>,
): string[] {
  return executions.flatMap(({ runId, step, workerPid }) => {
    const recordedMs = recorded.get(step);
    const bornAfterMs = notBeforeMs.get(workerPid) ?? 0;
    return recordedMs === undefined || bornAfterMs <= recordedMs + CLOCK_MS
      ? []
      : [`${runId}: ${step} ran again in a worker that is younger than its record`];
  });
}
