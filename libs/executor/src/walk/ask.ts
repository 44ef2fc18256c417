// Runs an ask step: returns its answer if there is one, else the question.
import type { RefusedAnswer } from '@methods/method/answer-checks';
import { compileCheck, type ValueCheck } from '@methods/method/check-value';
import type { AskStep } from '@methods/method/compiled-method';
import type { JsonValue } from '@methods/method/json';
import { refuseNamedFiles } from '../files/file-value.ts';
import { questionOf } from '../kinds/ask-step.ts';
import { failedCheck } from '../records/checks.ts';
import { stepOut } from '../records/step-out.ts';
import type { Begun } from '../records/step-record.ts';
import type { CheckRecord } from '../run-outcome.ts';
import type { ActionEnd } from '../step-context.ts';
import { StepFailure } from '../step-failure.ts';
import type { Turn } from './place.ts';
import { substitutionOf } from './substitution.ts';
import type { Walk } from './walk.ts';
import type { Walked } from './walk-end.ts';

export async function askOrAnswer(walk: Walk, step: AskStep, turn: Turn): Promise<Walked> {
  const { place, path } = turn;
  const { recorder } = place.frame;
  const { answer } = walk.run.options;
  const begun = recorder.begin();
  const checks = walk.judged(step, 'require', turn);
  const refused = failedCheck(checks);
  if (refused !== null) return walk.failed(step, turn, refused, begun, { checks });
  if (answer?.step === path) {
    const value = answer.timedOut === true ? (step.policy?.timeoutAnswer ?? null) : answer.value;
    return answered(walk, step, turn, value, begun, checks);
  }
  if (walk.run.options.onDevice === true && rulesOnPeople(step)) {
    const message = 'In device mode a question cannot have rules about who answers: only the service applies them';
    return walk.failed(step, turn, new StepFailure('input', message), begun, { checks });
  }
  try {
    const mock = answeredByTimeout(step, await substitutionOf(walk, step, turn, 1));
    if (mock?.failure) return walk.failed(step, turn, mock.failure, begun, { checks });
    // A mock's answer does not come from a person: it is checked as an out is.
    if (mock !== null) {
      const refusals = refusalsOf(
        walk,
        step,
        turn,
        stepOut(step, mock.returned, recorder.mask, walk.run.options.folder).value,
      );
      return refusals.length > 0
        ? again(step, turn, refusals)
        : walk.finished(step, turn, mock.returned, begun, { checks });
    }
    return { kind: 'asking', question: questionOf(step, path, place.scope, recorder.mask) };
  } catch (error) {
    return walk.failed(step, turn, error, begun, { checks });
  }
}

/** A test lets the deadline pass: the source may have an answer for that. In production the service gives it. */
function answeredByTimeout({ policy }: AskStep, mock: ActionEnd | null): ActionEnd | null {
  if (mock?.failure?.kind !== 'timeout' || !policy?.timeoutAnswer) return mock;
  return { ...mock, failure: null, returned: policy.timeoutAnswer };
}

/**
 * The server has checked the answer against the form; a person's text is kept unchanged. An answer that the step's
 * checks refuse, and that could not be judged where it was given, is requested again.
 */
function answered(
  walk: Walk,
  step: AskStep,
  turn: Turn,
  given: JsonValue,
  begun: Begun,
  before: readonly CheckRecord[],
): Walked {
  const { place, path } = turn;
  const fits: ValueCheck =
    walk.run.options.onDevice === true ? compileCheck(step.form)(given) : { ok: true, value: given };
  if (!fits.ok) return again(step, turn, misfits(fits));
  const { value } = fits;
  try {
    refuseNamedFiles(value, walk.run.options.folder);
  } catch (error) {
    return walk.failed(step, turn, error, begun, { checks: before });
  }
  const scope = { ...place.scope, out: value };
  const ensured = walk.judged(step, 'ensure', { ...turn, place: { ...place, scope } });
  const checks = [...before, ...ensured];
  const refusals = failedOf(ensured);
  if (refusals.length > 0) {
    try {
      return again(step, turn, refusals);
    } catch (error) {
      return walk.failed(step, turn, error, begun, { checks });
    }
  }
  walk.run.record(place.frame.recorder.answered({ kind: step.kind, path, begun }, value, { checks }));
  return { kind: 'done', value };
}

function rulesOnPeople({ policy }: AskStep): boolean {
  return (
    policy !== null && (policy.to.length > 0 || policy.notStarter || policy.needs !== null || policy.escalate !== null)
  );
}

/** In device mode the server cannot check the answer against the form. */
function misfits(check: Exclude<ValueCheck, { ok: true }>): readonly RefusedAnswer[] {
  const findings = 'findings' in check ? check.findings : [];
  if (findings.length === 0) return [{ name: 'The answer is too large for the form', message: null }];
  return findings.map(({ path, message }) => ({ name: path === '' ? 'answer' : path, message }));
}

function again(step: AskStep, { place, path }: Turn, refusals: readonly RefusedAnswer[]): Walked {
  return { kind: 'asking', question: questionOf(step, path, place.scope, place.frame.recorder.mask, refusals) };
}

function refusalsOf(walk: Walk, step: AskStep, turn: Turn, out: JsonValue): readonly RefusedAnswer[] {
  const scope = { ...turn.place.scope, out };
  return failedOf(walk.judged(step, 'ensure', { ...turn, place: { ...turn.place, scope } }));
}

function failedOf(checks: readonly CheckRecord[]): RefusedAnswer[] {
  return checks.filter(({ status }) => status === 'failed').map(({ name, message }) => ({ name, message }));
}
