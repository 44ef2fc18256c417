// Owns the question whether a method has rules about who answers: the service applies them to answers that it can read.
import type { CompiledMethod, CompiledStep } from './compiled-method.ts';

/** Reports whether a question of the method itself has `to`, `not_starter`, `needs` or `escalate`. */
export function namesAnswerers({ steps, onFailure, finally: last }: CompiledMethod): boolean {
  const names = (step: CompiledStep): boolean => {
    if (step.kind === 'steps' || step.kind === 'parallel') return step.steps.some(names);
    if (step.kind !== 'ask' || step.policy === null) return false;
    const { to, notStarter, needs, escalate } = step.policy;
    return to.length > 0 || notStarter || needs !== null || escalate !== null;
  };
  return [steps, onFailure, last].some((of) => of.some(names));
}
