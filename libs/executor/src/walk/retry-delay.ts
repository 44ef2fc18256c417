// Whether a failed try is followed by another, and when.
import type { Retry } from '@methods/method/compiled-method';
import { evaluate, type Scope } from '@methods/method/evaluate';
import type { ErrorKind, StepFailure } from '../step-failure.ts';

/** Failures that pass by themselves. */
const PASSING: ReadonlySet<ErrorKind> = new Set(['exit', 'exception', 'timeout', 'network']);
const JITTER = 0.2;

/** Null: no more tries. Throws what the condition throws. `random`: 0 to 1. */
export function retryDelayMs(
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
