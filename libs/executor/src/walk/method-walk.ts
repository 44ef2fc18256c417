// Walks a whole method: `require`, its steps, `ensure`, its result, and its `on_failure` and `finally`.
import type { CompiledCheck } from '@methods/method/compiled-method';
import { isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import { failedCheck, judge } from '../records/checks.ts';
import { resultOf } from '../records/step-out.ts';
import type { RunError, RunErrorCode } from '../run-outcome.ts';
import type { ErrorKind } from '../step-failure.ts';
import { newBudget, type Place } from './place.ts';
import type { Walk } from './walk.ts';
import { type Failed, type FailedMethod, type MethodEnd, OVER, STOPPED, type Walked } from './walk-end.ts';

/** `on_failure` and `finally` of one method together, in one attempt. */
const CLEANUP_MS_MAX = 3_600_000;

export async function walkMethod(walk: Walk, place: Place): Promise<MethodEnd> {
  const { method, prefix, cleans } = place.frame;
  const { ending } = walk.run.options;
  const walked = await walkToResult(walk, place);
  // All of it was finished, but the run failed before its end was reported.
  const isOver =
    ending !== undefined && !cleans && (walked.kind === 'over' || (walked.kind === 'done' && prefix === ''));
  const end: MethodEnd = isOver ? failedBefore(ending) : walked;
  if (end.kind !== 'done' && end.kind !== 'failed') return end;
  // The caller of an interrupted method is interrupted as well.
  const told = isOver && prefix !== '' ? OVER : end;
  if (method.onFailure.length === 0 && method.finally.length === 0) return told;
  const path = `${prefix}@failure`;
  const known = failureIn(walk.run.begun(path)?.checkpoint ?? null);
  let failed = known ?? (end.kind === 'failed' ? end : null);
  // A resume while the steps below run must reach the same failure, with the same texts.
  if (failed !== null && known === null && !(await walk.run.started(path, 'failure', checkpointOf(failed)))) {
    return STOPPED;
  }
  const result = end.kind === 'done' ? end : null;
  const endsMs = walk.run.options.clock.monotonicMs() + CLEANUP_MS_MAX;
  if (failed !== null) {
    const handled = await walk.list(method.onFailure, after(place, 'on_failure', failed, endsMs));
    if (handled.kind !== 'done' && handled.kind !== 'failed') return handled;
  }
  const tidied = await walk.list(method.finally, after(place, 'finally', failed, endsMs));
  if (tidied.kind === 'failed') failed ??= failedMethod(walk, place, tidied);
  else if (tidied.kind !== 'done') return tidied;
  if (told.kind === 'over') return told;
  return failed ?? (result as MethodEnd);
}

/** The run's error, as `on_failure` reads it: the step by its own name. */
function failedBefore(error: RunError): FailedMethod {
  const name =
    error.step
      ?.split('/')
      .at(-1)
      ?.replace(/\[\d+\]$/, '') ?? '';
  return { kind: 'failed', error, name };
}

async function walkToResult(walk: Walk, place: Place): Promise<MethodEnd> {
  const { method, recorder } = place.frame;
  const before = judgeAll(walk, place, 'require', method.require);
  if (before !== null) return before;
  const end: Walked = await walk.list(method.steps, place);
  if (end.kind === 'failed') return failedMethod(walk, place, end);
  if (end.kind !== 'done') return end;
  const last = judgeAll(walk, place, 'ensure', method.ensure);
  if (last !== null) return last;
  const result = resultOf(method, place.scope, recorder.mask);
  if ('code' in result) return { kind: 'failed', error: result, name: 'result' };
  return { kind: 'done', result: result.value };
}

/** The method's own checks, recorded as those of a step that no author can write. */
function judgeAll(
  walk: Walk,
  { frame, scope }: Place,
  phase: 'require' | 'ensure',
  list: readonly CompiledCheck[],
): FailedMethod | null {
  if (list.length === 0) return null;
  const { recorder } = frame;
  const path = `${frame.prefix}@${phase}`;
  const recorded = { kind: 'check' as const, path, begun: recorder.begin() };
  const checks = judge(list, phase, scope, recorder.mask);
  for (const check of checks) walk.run.options.observer?.checked?.(path, check);
  const failure = failedCheck(checks);
  const error = failure === null ? null : recorder.errorOf(failure);
  if (walk.run.kept(path) === undefined) {
    const out = { value: {}, json: '{}', dropped: [] };
    const end = error === null ? recorder.succeeded(recorded, out, false, { checks }) : null;
    walk.run.record(end ?? recorder.failed(recorded, error ?? { kind: 'check', message: '' }, { checks }));
  }
  if (error === null) return null;
  return { kind: 'failed', error: { code: 'check_failed', kind: error.kind, message: error.message }, name: phase };
}

function failedMethod(walk: Walk, { frame }: Place, { path, name, error, code: given }: Failed): FailedMethod {
  const timeIsUp = frame.endsMs !== null && walk.run.options.clock.monotonicMs() >= frame.endsMs;
  const { kind, message } = error;
  const code: RunErrorCode =
    given ?? (kind === 'check' ? 'check_failed' : kind === 'timeout' && timeIsUp ? 'run_timeout' : 'step_failed');
  return { kind: 'failed', error: { code, kind, message, step: path }, name };
}

/** Executes `on_failure` and `finally`, with their own budget and time, even if the run's own time is over. */
function after(place: Place, list: 'on_failure' | 'finally', failed: FailedMethod | null, endsMs: number): Place {
  const frame = { ...place.frame, endsMs, cleans: true };
  const failure = failed === null ? {} : { failure: scopeOf(failed) };
  return {
    ...place,
    frame,
    prefix: `${place.prefix}${list}/`,
    budget: newBudget(frame),
    scope: { ...place.scope, ...failure },
  };
}

function scopeOf({ error, name }: FailedMethod): JsonObject {
  return { step: name, kind: error.kind, message: error.message };
}

function checkpointOf({ error, name }: FailedMethod): JsonObject {
  const { code, kind, message, step = null } = error;
  return { code, kind, message, step, name };
}

/** The checkpoint that `checkpointOf` wrote in an earlier attempt. */
function failureIn(checkpoint: JsonValue): FailedMethod | null {
  if (!isJsonObject(checkpoint)) return null;
  const { code, kind, message, step, name } = checkpoint;
  if (typeof code !== 'string' || typeof kind !== 'string' || typeof message !== 'string') return null;
  const where = typeof step === 'string' ? { step } : {};
  const error = { code: code as RunErrorCode, kind: kind as ErrorKind, message, ...where };
  return { kind: 'failed', error, name: typeof name === 'string' ? name : '' };
}
