// The checks of a question that an answer on this machine does not meet.
import { askStepAt, refusalText, refusedBy } from '@methods/method/answer-checks';
import type { JsonValue } from '@methods/method/json';
import type { LocalQuestion } from '../local-run/run-record.ts';
import type { LocalMethod } from '../method-file/local-method.ts';
import { halfCharacterIn } from './given-answer.ts';

/** One sentence for each check that the answer does not meet. */
export function localRefusals({ method, called }: LocalMethod, question: LocalQuestion, answer: JsonValue): string[] {
  const step = askStepAt(method, question.step, (target) => {
    return target.kind === 'file' ? (called.get(target.path)?.method ?? null) : null;
  });
  const half = halfCharacterIn(answer);
  if (half !== null) return [half];
  return step === null ? [] : refusedBy(step, question.ensure_scope ?? null, answer).map(refusalText);
}
