// Makes the question of an ask step. Texts are plain text, never markup; secrets in them are masked.
import type { AskStep } from '@methods/method/compiled-method';
import { evaluate, type Scope } from '@methods/method/evaluate';
import type { JsonValue } from '@methods/method/json';
import { durationText } from '@methods/method/structure/duration';
import type { RunQuestion } from '../run-outcome.ts';
import type { Mask } from '../secrets/mask.ts';

export function questionOf(step: AskStep, path: string, scope: Scope, mask: Mask): RunQuestion {
  const { timeoutMs, timeoutText } = step.limits;
  return {
    step: path,
    prompt: mask.text(plainText(evaluate(step.question, scope))),
    ...(step.details === undefined ? {} : { details: mask.text(plainText(evaluate(step.details, scope))) }),
    show: step.show.map(({ path, value }) => ({ path, value: mask.json(evaluate(value, scope)) })),
    form: step.form,
    ...(timeoutMs === null ? {} : { timeoutMs, timeoutText: timeoutText ?? durationText(timeoutMs) }),
  };
}

function plainText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
