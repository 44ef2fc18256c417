// A run as a node shows it right after its start.
import { Answerer, RunStatus, type RunTiming, type RunView } from '@methods/proto/run/v1/run_pb';

export function queuedRun(
  { createdAtMs, ...facts }: Pick<RunView, 'runId' | 'method' | 'versionId'> & { readonly createdAtMs: number },
  changes: Partial<RunView> = {},
): RunView {
  return {
    $typeName: 'methods.run.v1.RunView',
    ...facts,
    status: RunStatus.QUEUED,
    attempts: 0,
    maxAttempts: 3,
    answerBy: Answerer.TEAM,
    metadata: {},
    timing: runTiming(createdAtMs),
    cancelRequested: false,
    steps: [],
    resultJson: '',
    revision: 1,
    queuedReason: '',
    wakeAtMs: 0,
    answers: [],
    contentId: '',
    rerunOf: '',
    ...changes,
  };
}

export function runTiming(createdAtMs: number, changes: Partial<RunTiming> = {}): RunTiming {
  return {
    $typeName: 'methods.run.v1.RunTiming',
    createdAtMs,
    startedAtMs: 0,
    waitingSinceMs: 0,
    finishedAtMs: 0,
    queuedMs: 0,
    runningMs: 0,
    waitingMs: 0,
    stateSinceMs: createdAtMs,
    ...changes,
  };
}
