// Runs a step that acts on the world: `require`, then tries until one succeeds or none is left, each with `ensure`.
import type { CodeStep, HttpStep, Retry } from '@methods/method/compiled-method';
import { evaluate, type Scope } from '@methods/method/evaluate';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { onlyComputes, runCodeStep } from '../code-step.ts';
import { runHttpStep } from '../kinds/http-step.ts';
import { PLAIN_ENVIRONMENT } from '../prepared-environment.ts';
import { failedCheck, failureOf } from '../records/checks.ts';
import { type StepOut, stepOut } from '../records/step-out.ts';
import type { CheckRecord, StepLog, StepTry } from '../run-outcome.ts';
import type { ActionEnd, StepContext } from '../step-context.ts';
import { maskedEvent } from '../step-event.ts';
import type { ErrorKind, StepFailure } from '../step-failure.ts';
import { resumption } from './interruption.ts';
import type { Turn } from './place.ts';
import { substitutionOf } from './substitution.ts';
import type { Walk } from './walk.ts';
import { STOPPED, type Walked } from './walk-end.ts';

type ActingStep = CodeStep | HttpStep;

interface Tried {
  readonly failure: StepFailure | null;
  /** Null: it failed. */
  readonly out: StepOut | null;
  readonly checks: readonly CheckRecord[];
  readonly log: StepLog | null;
}

export async function act(walk: Walk, step: ActingStep, turn: Turn): Promise<Walked> {
  const { run } = walk;
  const { place, path } = turn;
  const { recorder, endsMs } = place.frame;
  const { observer, random = Math.random } = run.options;
  const computes = onlyComputes(step, place.frame.method.lib) && run.mayCompute();
  if (!computes && !(await run.settled())) return STOPPED;
  const resumed = step.onInterrupt === 'rerun' ? null : resumption(walk, step, turn);
  if (resumed !== null && resumed.kind !== 'run') return resumed;
  const begun = recorder.begin();
  const before = walk.judged(step, 'require', turn);
  const refused = failedCheck(before);
  if (refused !== null) return walk.failed(step, turn, refused, begun, { checks: before });
  if (resumed !== null && !(await run.started(path, step.kind, resumed.checkpoint))) return STOPPED;
  const tries: StepTry[] = [];
  for (let tryNumber = 1; ; tryNumber++) {
    observer?.stepStarted?.(path, step.kind, tryNumber);
    const tryBegun = tryNumber === 1 ? begun : recorder.begin();
    const tried = await tryOnce(walk, step, turn, tryNumber);
    if (run.stop.stopped) return STOPPED;
    const error = tried.failure === null ? null : recorder.errorOf(tried.failure);
    tries.push({ startedAtMs: tryBegun.wallMs, finishedAtMs: recorder.endMs(tryBegun), error });
    const checks = before.length === 0 ? tried.checks : [...before, ...tried.checks];
    const parts = { checks, tries, log: tried.log };
    try {
      if (tried.out !== null) {
        walk.succeeded(step, turn, tried.out, begun, parts);
        return { kind: 'done', value: tried.out.value };
      }
      // Its files do not belong to the run: they are not stored with the others, and their names may contain a secret.
      await run.options.folder.clearStep(path);
      const failure = tried.failure as StepFailure;
      const timeIsUp = endsMs !== null && run.options.clock.monotonicMs() >= endsMs;
      const delayMs = timeIsUp ? null : retryDelayMs(step.retry, tryNumber, failure, place.scope, random);
      if (delayMs === null) return walk.failed(step, turn, failure, begun, parts);
      if (error !== null) observer?.stepRetrying?.(path, tryNumber + 1, delayMs, error);
      const leftMs = endsMs === null ? delayMs : Math.max(0, endsMs - run.options.clock.monotonicMs());
      if (!(await run.pause(Math.min(delayMs, leftMs)))) return STOPPED;
    } catch (fault) {
      return walk.failed(step, turn, fault, begun, parts);
    }
  }
}

/** One try. Never rejects. */
async function tryOnce(walk: Walk, step: ActingStep, turn: Turn, tryNumber: number): Promise<Tried> {
  const { place, path } = turn;
  const { recorder } = place.frame;
  const { observer } = walk.run.options;
  let end: ActionEnd;
  try {
    const mock = await substitutionOf(walk, step, turn, tryNumber);
    end = mock ?? (await actionOf(step, contextOf(walk, step, turn, tryNumber)));
  } catch (error) {
    return { failure: failureOf(error, step), out: null, checks: [], log: null };
  }
  let checks = recorder.masked(end.checks);
  let { log } = end;
  const tell = () => {
    for (const check of checks) observer?.checked?.(path, check);
  };
  const givesSecret = step.out?.hasSecret === true;
  if (!givesSecret) tell();
  const failure = failedCheck(checks) ?? end.failure;
  if (failure !== null) return { failure: failureOf(failure, step), out: null, checks, log: end.log };
  try {
    const out = stepOut(step, end.returned, recorder.mask, walk.run.options.folder);
    // Its output with its own secret could not be masked before.
    if (givesSecret) {
      log = recorder.maskedLog(log);
      checks = recorder.masked(checks);
      tell();
    }
    if (step.ensure.length > 0) {
      const ensured = walk.judged(step, 'ensure', {
        ...turn,
        place: { ...place, scope: after(turn, out.value, end) },
      });
      checks = [...checks, ...ensured];
      const failed = failedCheck(ensured);
      if (failed !== null) return { failure: failureOf(failed, step), out: null, checks, log };
    }
    return { failure: null, out, checks, log };
  } catch (error) {
    return { failure: failureOf(error, step), out: null, checks, log };
  }
}

function actionOf(step: ActingStep, context: StepContext): Promise<ActionEnd> {
  return step.kind === 'http' ? runHttpStep(step, context) : runCodeStep(step, context);
}

function contextOf(walk: Walk, step: ActingStep, { place, path }: Turn, tryNumber: number): StepContext {
  const { runId, runners, fetch, folder, clock, observer } = walk.run.options;
  const { method, versionId, secrets, endsMs, environment, recorder } = place.frame;
  const { mask } = recorder;
  // A value that becomes secret only with the step's out cannot be masked before.
  const seen = step.out?.hasSecret === true ? undefined : observer;
  return {
    runId,
    versionId,
    path,
    tryNumber,
    lib: method.lib,
    environment: environment ?? PLAIN_ENVIRONMENT,
    onInput: observer?.stepGiven && ((values) => observer.stepGiven?.(path, mask.json(values) as JsonObject)),
    onLog: seen?.logged && ((text, from) => seen.logged?.(path, text, from)),
    onEvent: seen?.told && ((event) => seen.told?.(path, maskedEvent(event, mask))),
    scope: place.scope,
    secrets: secrets.values,
    mask,
    runners,
    fetch,
    folder,
    stop: walk.run.stop,
    clock,
    runTimeLeftMs: endsMs === null ? null : endsMs - clock.monotonicMs(),
  };
}

function after({ place }: Turn, out: JsonValue, { response }: ActionEnd): Scope {
  return { ...place.scope, out, ...(response === undefined ? {} : { response }) };
}

// Decides whether a failed try is followed by another, and when.

/** Transient failures. */
const PASSING: ReadonlySet<ErrorKind> = new Set(['exit', 'exception', 'timeout', 'network']);
const JITTER = 0.2;

/** Null: no more tries. Throws what the condition throws. `random`: 0 to 1. */
function retryDelayMs(
  retry: Retry | null,
  triesMade: number,
  failure: StepFailure,
  scope: Scope,
  random: () => number,
): number | null {
  if (retry === null || triesMade > retry.triesMore) return null;
  if (!isWanted(retry, failure, scope)) return null;
  const { retryAfterMs } = failure.detail;
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, retry.maxDelayMs);
  const delayMs = Math.min(retry.delayMs * retry.factor ** (triesMade - 1), retry.maxDelayMs);
  // Tries that failed together must not be repeated together.
  return Math.round(delayMs * (1 + JITTER * (2 * random() - 1)));
}

function isWanted({ condition }: Retry, failure: StepFailure, scope: Scope): boolean {
  const { kind, message, detail } = failure;
  const { status = null, code = null, retry, answer } = detail;
  if (condition !== null) {
    const { headers = {}, body = null } = answer ?? {};
    return evaluate(condition, { ...scope, error: { kind, message, status, code, headers, body } }) === true;
  }
  if (retry !== undefined) return retry;
  if (kind !== 'http') return PASSING.has(kind);
  return status === 408 || status === 425 || status === 429 || (status !== null && status >= 500);
}
