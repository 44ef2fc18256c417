// Owns the list of methods a method calls, anywhere in it.
import type { CallTarget, CompiledMethod, CompiledStep } from './compiled-method.ts';

/** Each target once, in file order. */
export function callTargets({ steps, onFailure, finally: last }: CompiledMethod): CallTarget[] {
  const targets = new Map<string, CallTarget>();
  const visit = (step: CompiledStep) => {
    if (step.kind === 'call') targets.set(targetText(step.target), step.target);
    if (step.kind === 'steps' || step.kind === 'parallel') step.steps.forEach(visit);
  };
  for (const list of [steps, onFailure, last]) list.forEach(visit);
  return [...targets.values()];
}

/** As it is written: `wf_1`, `wf_1@published`, `wf_1@ver_2`, `./file.method`. */
export function targetText(target: CallTarget): string {
  if (target.kind === 'file') return target.path;
  const { method, version } = target;
  if (version === 'pinned') return method;
  return `${method}@${version === 'published' ? version : version.id}`;
}
