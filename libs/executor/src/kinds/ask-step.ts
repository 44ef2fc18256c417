// Builds the question of an ask step. Texts are plain text, never markup; secrets in them are masked.
import { type RefusedAnswer, refusalText, scopeOfAnswer } from '@methods/method/answer-checks';
import type { AskStep } from '@methods/method/compiled-method';
import { evaluate, type Scope } from '@methods/method/evaluate';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { durationText } from '@methods/method/structure/duration';
import type { RunQuestion } from '../run-outcome.ts';
import type { Mask } from '../secrets/mask.ts';

/** `refused`: the checks that the previous answer did not meet. */
export function questionOf(
  step: AskStep,
  path: string,
  scope: Scope,
  mask: Mask,
  refused: readonly RefusedAnswer[] = [],
): RunQuestion {
  const { timeoutMs, timeoutText } = step.limits;
  return {
    step: path,
    prompt: mask.text(plainText(evaluate(step.question, scope))),
    ...detailsOf(step, scope, mask, refused),
    show: step.show.map(({ path, value }) => ({ path, value: mask.json(evaluate(value, scope)) })),
    form: step.form,
    ...(timeoutMs === null ? {} : { timeoutMs, timeoutText: timeoutText ?? durationText(timeoutMs) }),
    ...ensureScopeOf(step, scope, mask),
    ...(step.policy === null ? {} : { policy: step.policy }),
    ...(refused.length === 0 ? {} : { refused }),
  };
}

function detailsOf(
  { details }: AskStep,
  scope: Scope,
  mask: Mask,
  refused: readonly RefusedAnswer[],
): { details?: string } {
  const own = details === undefined ? [] : [mask.text(plainText(evaluate(details, scope)))];
  const again = refused.length === 0 ? [] : [`The last answer was refused: ${refused.map(refusalText).join('; ')}`];
  const texts = [...again, ...own];
  return texts.length === 0 ? {} : { details: texts.join('\n\n') };
}

/** Values that would be masked do not leave the worker: such an answer is judged here. */
function ensureScopeOf(step: AskStep, scope: Scope, mask: Mask): { ensureScope?: JsonObject } {
  if (step.ensure.length === 0) return {};
  const read = scopeOfAnswer(step, scope);
  return read === null || JSON.stringify(mask.json(read)) !== JSON.stringify(read) ? {} : { ensureScope: read };
}

function plainText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
