// Owns whether a run of a method may have something left to do once a step of it has failed.
import type { CompiledMethod, CompiledStep } from './compiled-method.ts';

/** True also for a call: the cleanup of the called method is not known here. */
export function goesOnAfterFailure({ steps, onFailure, finally: last }: CompiledMethod): boolean {
  return onFailure.length > 0 || last.length > 0 || steps.some(mayGoOn);
}

function mayGoOn(step: CompiledStep): boolean {
  if (step.kind === 'call') return true;
  if (step.kind === 'ask') return step.onError === 'continue';
  if (step.kind !== 'steps' && step.kind !== 'parallel') return false;
  return (step.onError === 'continue' && step.steps.some(asks)) || step.steps.some(mayGoOn);
}

function asks(step: CompiledStep): boolean {
  return step.kind === 'ask' || ((step.kind === 'steps' || step.kind === 'parallel') && step.steps.some(asks));
}
