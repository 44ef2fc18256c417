// Owns parallel steps: branches that do not see each other.
import type { CompiledStep } from '../../compiled-method.ts';
import type { SourceEntry } from '../../source/source-node.ts';
import type { KindFields } from '../kinds/kind-fields.ts';
import type { StepContext } from '../step-context.ts';
import { listedSteps, readListedStep } from './read-steps.ts';
import { hide, innerScope, publish } from './step-scope.ts';

const BRANCHES_MAX = 16;
const ALWAYS = { guards: null, onError: 'fail', loop: null } as const;

export function readParallel(context: StepContext, entry: SourceEntry): KindFields {
  const { findings } = context;
  const at = `${context.path}.parallel`;
  const items = listedSteps(context, entry, at);
  if (items.length > BRANCHES_MAX)
    findings.add('M805', `parallel runs at most ${BRANCHES_MAX} steps`, at, entry.keyRange, {
      hint: 'use each with at_once, or put some in a second parallel',
    });
  const inner = innerScope(context);
  const steps: CompiledStep[] = [];
  let asking = 0;
  for (const [index, item] of items.slice(0, BRANCHES_MAX).entries()) {
    const branch = innerScope(context);
    const step = readListedStep(branch, item, `${at}[${index}]`);
    publish(branch, inner, ALWAYS);
    hide(branch, context, 'the branches of parallel do not see each other: read it after them');
    if (step) steps.push(step);
    if (step && asks(step)) asking++;
  }
  // The branches are hidden from each other only until the step ends.
  for (const name of inner.finished.keys()) context.hidden.delete(name);
  if (asking > 1)
    findings.warn(
      'M513',
      'the questions of these branches are asked one at a time',
      at,
      entry.keyRange,
      'the first in file order comes first; put what two people decide into one question',
    );
  return { fields: { kind: 'parallel', steps }, inner };
}

/** True when the step, or a step inside it, asks a question. */
function asks(step: CompiledStep): boolean {
  if (step.kind === 'ask') return true;
  return (step.kind === 'steps' || step.kind === 'parallel') && step.steps.some(asks);
}
