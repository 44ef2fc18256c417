// Owns what a server must know of a compiled method before a run of it: whether cleanup may follow a failure, whether its
// questions name who answers, and whether it only computes.
import type { CompiledMethod, CompiledStep } from './compiled-method.ts';
import { isPlainNodeCode } from './structure/computing-code.ts';

/**
 * Reports whether a run may have something left to do once a step has failed. True also for a call: the cleanup of the
 * called method is not known here.
 */
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

/**
 * Reports whether a question of the method itself has `to`, `not_starter`, `needs` or `escalate`: the service applies
 * them to answers that it can read.
 */
export function namesAnswerers({ steps, onFailure, finally: last }: CompiledMethod): boolean {
  const names = (step: CompiledStep): boolean => {
    if (step.kind === 'steps' || step.kind === 'parallel') return step.steps.some(names);
    if (step.kind !== 'ask' || step.policy === null) return false;
    const { to, notStarter, needs, escalate } = step.policy;
    return to.length > 0 || notStarter || needs !== null || escalate !== null;
  };
  return [steps, onFailure, last].some((of) => of.some(names));
}

/**
 * Reports whether the steps only read their inputs and answers: nothing outside notices if they run twice, or for a run
 * that is never started.
 */
export function onlyComputes({ steps, onFailure, finally: last, lib }: CompiledMethod): boolean {
  if (onFailure.length > 0 || last.length > 0 || lib.node !== undefined) return false;
  return steps.every(computes);
}

function computes(step: CompiledStep): boolean {
  switch (step.kind) {
    case 'node':
      return step.onInterrupt === 'rerun' && isPlainNodeCode(step.code, [...step.inputs.keys()]);
    case 'steps':
    case 'parallel':
      return step.steps.every(computes);
    default:
      return step.kind === 'ask' || step.kind === 'check';
  }
}
