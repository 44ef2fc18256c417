// The stable key of a step: the same over tries, attempts and workers, so that the receiver of a step's effect can
// recognize a repetition.

import { hash } from 'node:crypto';
import type { RunId } from '@methods/base/ids';

/** First 32 hex digits of SHA-256(run id + "/" + path). */
export function stepKey(runId: RunId, path: string): string {
  return hash('sha256', `${runId}/${path}`, 'hex').slice(0, 32);
}
