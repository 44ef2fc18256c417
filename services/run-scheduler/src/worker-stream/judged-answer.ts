// Judges an answer by the checks of its ask step, from the version's source. Its expressions are counted, and compiled
// and judged on a thread.
import { askStepAt, refusalText, refusedBy, scopeFromJson } from '@methods/method/answer-checks';
import { compileMethod } from '@methods/method/compile';
import type { JsonValue } from '@methods/method/json';

export interface AnswerJob {
  readonly kind: 'answer';
  readonly source: Uint8Array;
  readonly path: string;
  readonly scopeJson: string;
  readonly answerJson: string;
}

/** A sentence for each check that the answer fails. */
export function judgedAnswer({ source, path, scopeJson, answerJson }: Omit<AnswerJob, 'kind'>): string[] {
  const { method } = compileMethod(source, { saved: true });
  const step = method === null ? null : askStepAt(method, path);
  if (step === null) return [];
  return refusedBy(step, scopeFromJson(scopeJson), JSON.parse(answerJson) as JsonValue).map(refusalText);
}
