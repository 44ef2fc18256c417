// An ask step: its answer where there is one, else the question.
import type { AskStep } from '@methods/method/compiled-method';
import type { JsonValue } from '@methods/method/json';
import { refuseNamedFiles } from '../files/named-files.ts';
import { questionOf } from '../kinds/ask-step.ts';
import { failedCheck } from '../records/checks.ts';
import type { Begun } from '../records/step-record.ts';
import type { CheckRecord } from '../run-outcome.ts';
import type { Turn } from './place.ts';
import { substitutionOf } from './substitution.ts';
import type { Walked } from './walk-end.ts';
import type { Walker } from './walker.ts';

export async function askOrAnswer(walker: Walker, step: AskStep, turn: Turn): Promise<Walked> {
  const { place, path } = turn;
  const { recorder } = place.frame;
  const { answer } = walker.run.options;
  const begun = recorder.begin();
  const checks = walker.judged(step, 'require', turn);
  const refused = failedCheck(checks);
  if (refused !== null) return walker.failed(step, turn, refused, begun, { checks });
  if (answer?.step === path) return answered(walker, step, turn, answer.value, begun, checks);
  try {
    const mock = await substitutionOf(walker, step, turn, 1);
    if (mock?.failure) return walker.failed(step, turn, mock.failure, begun, { checks });
    // A mock's answer was given by no person: it is checked as an out is.
    if (mock !== null) return walker.finished(step, turn, mock.returned, begun, { checks });
    return { kind: 'asking', question: questionOf(step, path, place.scope, recorder.mask) };
  } catch (error) {
    return walker.failed(step, turn, error, begun, { checks });
  }
}

/** The server has checked the answer against the form; what a person wrote is kept as it is. */
function answered(
  walker: Walker,
  step: AskStep,
  turn: Turn,
  value: JsonValue,
  begun: Begun,
  before: readonly CheckRecord[],
): Walked {
  const { place, path } = turn;
  try {
    refuseNamedFiles(value, walker.run.options.folder);
  } catch (error) {
    return walker.failed(step, turn, error, begun, { checks: before });
  }
  const scope = { ...place.scope, out: value };
  const ensured = walker.judged(step, 'ensure', { ...turn, place: { ...place, scope } });
  const checks = [...before, ...ensured];
  const failure = failedCheck(ensured);
  if (failure !== null) return walker.failed(step, turn, failure, begun, { checks });
  walker.run.record(place.frame.recorder.answered({ kind: step.kind, path, begun }, value, { checks }));
  return { kind: 'done', value };
}
