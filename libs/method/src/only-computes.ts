// Whether a method only computes: its steps read their inputs and answers, and nothing outside notices if they run
// twice, or for a run that is never started.
import type { CompiledMethod, CompiledStep } from './compiled-method.ts';
import { isPlainNodeCode } from './structure/computing-code.ts';

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
