// Runs one version of a method: walks its steps from the top, keeps the finished ones, runs the others. It knows no
// scheduler: it writes step records to a journal, and returns how the walk ended.
import { checkInputFiles } from './files/input-folder.ts';
import { StepRecorder } from './records/step-record.ts';
import type { RunOptions } from './run-options.ts';
import type { RunError, RunOutcome } from './run-outcome.ts';
import { RunStop } from './run-stop.ts';
import { type DeclaredSecrets, declaredSecrets } from './secrets/declared-secrets.ts';
import { runMask } from './secrets/run-mask.ts';
import type { StepFailure } from './step-failure.ts';
import { walkMethod } from './walk/method-walk.ts';
import { type Frame, firstPlace } from './walk/place.ts';
import { RunState } from './walk/run-state.ts';
import { Walker } from './walk/walker.ts';

export type { FinishedStep, RunOptions } from './run-options.ts';

/** Never rejects for a fault of a method, its steps or its servers. */
export async function executeRun(options: RunOptions): Promise<RunOutcome> {
  const secrets = declaredSecrets(options.method, options.secrets);
  if ('code' in secrets) return { status: 'failed', error: secrets };
  const forged = foreignInput(options);
  if (forged !== null) return { status: 'failed', error: forged };
  const stop = new RunStop(options.signal);
  try {
    const outcome = await walkToItsEnd(options, stop, secrets);
    return stop.stopped ? { status: 'stopped' } : outcome;
  } finally {
    stop.release();
  }
}

/** A file of the inputs in the run's row must be one that the worker knows, or the run fails. */
function foreignInput({ method, inputs, folder }: RunOptions): RunError | null {
  try {
    checkInputFiles(method, inputs, folder);
    return null;
  } catch (error) {
    const { kind, message } = error as StepFailure;
    return { code: 'step_failed', kind, message };
  }
}

async function walkToItsEnd(options: RunOptions, stop: RunStop, secrets: DeclaredSecrets): Promise<RunOutcome> {
  const { method, versionId, runId, startedAtMs, inputs, clock, ranMs = 0 } = options;
  const run = new RunState(options, stop);
  const { runTimeoutMs } = method.limits;
  const frame: Frame = {
    method,
    versionId,
    environment: options.environment,
    callee: options.callee,
    prefix: '',
    depth: 0,
    secrets,
    recorder: new StepRecorder(clock, runMask(secrets.covered, secrets.mask)),
    endsMs: runTimeoutMs === null ? null : clock.monotonicMs() + runTimeoutMs - ranMs,
    cleans: false,
  };
  const end = await walkMethod(new Walker(run), firstPlace(frame, runId, startedAtMs, inputs));
  if (end.kind === 'stopped' || end.kind === 'over' || !(await run.sentInOrder())) return { status: 'stopped' };
  const last = run.records.takeLast();
  switch (end.kind) {
    case 'done':
      return { status: 'succeeded', result: end.result, ...last };
    case 'failed':
      return { status: 'failed', error: end.error, ...last };
    case 'asking':
      return { status: 'waiting', question: end.question, ...last };
    case 'sleeping':
      return { status: 'sleeping', untilMs: end.untilMs, ...last };
  }
}
