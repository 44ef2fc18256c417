// Owns the features of the language that a worker may lack. A version saves all features it uses; a run waits only for
// these.

import { ANSWER_POLICIES } from './answer-policy.ts';

/** Sorted. Every other kind runs in any worker. */
const SPECIAL_FEATURES = ['agent', ANSWER_POLICIES, 'browser', 'python', 'shell'] as const;

/** Those of a version's features that its worker must have been asked for. Sorted. */
export function specialFeatures(features: readonly string[]): string[] {
  return SPECIAL_FEATURES.filter((feature) => features.includes(feature));
}
