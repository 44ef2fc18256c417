// Walks a whole method: `require`, its steps, `ensure`, its result, and what follows a failure or the end.
import type { CompiledCheck } from '@methods/method/compiled-method';
import { isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import { failedCheck, judge } from '../records/checks.ts';
import { resultOf } from '../records/run-result.ts';
import type { RunErrorCode } from '../run-outcome.ts';
import type { ErrorKind } from '../step-failure.ts';
import { newBudget, type Place } from './place.ts';
import { type Failed, type FailedMethod, type MethodEnd, STOPPED, type Walked } from './walk-end.ts';
import type { Walker } from './walker.ts';

export async function walkMethod(walker: Walker, place: Place): Promise<MethodEnd> {
  const { method } = place.frame;
  const end = await walkToResult(walker, place);
  if (end.kind !== 'done' && end.kind !== 'failed') return end;
  if (method.onFailure.length === 0 && method.finally.length === 0) return end;
  const path = `${place.frame.prefix}@failure`;
  const known = failureIn(walker.run.begun(path)?.checkpoint ?? null);
  let failed = known ?? (end.kind === 'failed' ? end : null);
  // A resume while the steps below run must come to the same failure, with the same words.
  if (failed !== null && known === null && !(await walker.run.started(path, 'failure', checkpointOf(failed)))) {
    return STOPPED;
  }
  const result = end.kind === 'done' ? end : null;
  if (failed !== null) {
    const handled = await walker.list(method.onFailure, after(place, 'on_failure', failed));
    if (handled.kind !== 'done' && handled.kind !== 'failed') return handled;
  }
  const tidied = await walker.list(method.finally, after(place, 'finally', failed));
  if (tidied.kind === 'failed') failed ??= failedMethod(walker, place, tidied);
  else if (tidied.kind !== 'done') return tidied;
  return failed ?? (result as MethodEnd);
}

async function walkToResult(walker: Walker, place: Place): Promise<MethodEnd> {
  const { method, recorder } = place.frame;
  const before = judgeAll(walker, place, 'require', method.require);
  if (before !== null) return before;
  const end: Walked = await walker.list(method.steps, place);
  if (end.kind === 'failed') return failedMethod(walker, place, end);
  if (end.kind !== 'done') return end;
  const last = judgeAll(walker, place, 'ensure', method.ensure);
  if (last !== null) return last;
  const result = resultOf(method, place.scope, recorder.mask);
  if ('code' in result) return { kind: 'failed', error: result, name: 'result' };
  return { kind: 'done', result: result.value };
}

/** The method's own checks, recorded as those of a step that no author can write. */
function judgeAll(
  walker: Walker,
  { frame, scope }: Place,
  phase: 'require' | 'ensure',
  list: readonly CompiledCheck[],
): FailedMethod | null {
  if (list.length === 0) return null;
  const { recorder } = frame;
  const path = `${frame.prefix}@${phase}`;
  const recorded = { kind: 'check' as const, path, begun: recorder.begin() };
  const checks = judge(list, phase, scope, recorder.mask);
  for (const check of checks) walker.run.options.observer?.checked?.(path, check);
  const failure = failedCheck(checks);
  const error = failure === null ? null : recorder.errorOf(failure);
  if (walker.run.kept(path) === undefined) {
    const out = { value: {}, json: '{}', dropped: [] };
    const end = error === null ? recorder.succeeded(recorded, out, false, { checks }) : null;
    walker.run.record(end ?? recorder.failed(recorded, error ?? { kind: 'check', message: '' }, { checks }));
  }
  if (error === null) return null;
  return { kind: 'failed', error: { code: 'check_failed', kind: error.kind, message: error.message }, name: phase };
}

function failedMethod(walker: Walker, { frame }: Place, { path, name, error }: Failed): FailedMethod {
  const timeIsUp = frame.endsMs !== null && walker.run.options.clock.monotonicMs() >= frame.endsMs;
  const { kind, message } = error;
  const code: RunErrorCode =
    kind === 'check' ? 'check_failed' : kind === 'timeout' && timeIsUp ? 'run_timeout' : 'step_failed';
  return { kind: 'failed', error: { code, kind, message, step: path }, name };
}

/** Where `on_failure` and `finally` run: with a budget of their own, and no end of the run's time before theirs. */
function after(place: Place, list: 'on_failure' | 'finally', failed: FailedMethod | null): Place {
  const frame = { ...place.frame, endsMs: null };
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

/** What `checkpointOf` wrote in an earlier attempt. */
function failureIn(checkpoint: JsonValue): FailedMethod | null {
  if (!isJsonObject(checkpoint)) return null;
  const { code, kind, message, step, name } = checkpoint;
  if (typeof code !== 'string' || typeof kind !== 'string' || typeof message !== 'string') return null;
  const where = typeof step === 'string' ? { step } : {};
  const error = { code: code as RunErrorCode, kind: kind as ErrorKind, message, ...where };
  return { kind: 'failed', error, name: typeof name === 'string' ? name : '' };
}
