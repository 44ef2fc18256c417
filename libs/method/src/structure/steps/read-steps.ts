// Owns lists of steps: their shape (M107), how many there are and how deep they nest (M805).
import type { CompiledStep } from '../../compiled-method.ts';
import type { SourceEntry, SourceNode } from '../../source/source-node.ts';
import type { MethodContext } from '../step-context.ts';

const STEPS_MAX = 200;
const LEVELS_MAX = 8;

/** Reads a list of steps in the scope of `context`, which they add to. */
export function readSteps(context: MethodContext, entry: SourceEntry, path: string): CompiledStep[] {
  const steps: CompiledStep[] = [];
  for (const [index, item] of listedSteps(context, entry, path).entries()) {
    const step = readListedStep(context, item, `${path}[${index}]`);
    if (step) steps.push(step);
  }
  return steps;
}

/** The items of a list of steps; none when it is not one, or nests too deep. */
export function listedSteps(context: MethodContext, entry: SourceEntry, path: string): readonly SourceNode[] {
  const { findings } = context;
  const key = entry.key;
  if (entry.value.kind !== 'list' || entry.value.items.length === 0) {
    findings.add('M107', `${key} is a list of one step or more`, path, entry.keyRange, {
      hint: 'each step starts with  - name:',
    });
    return [];
  }
  if (context.level > LEVELS_MAX) {
    findings.add('M805', `steps nest at most ${LEVELS_MAX} levels`, path, entry.keyRange, {
      hint: 'call another method for the inner part',
    });
    return [];
  }
  return entry.value.items;
}

/** Reads one item of a list of steps. */
export function readListedStep(context: MethodContext, item: SourceNode, path: string): CompiledStep | undefined {
  const { findings, steps } = context;
  if (item.kind !== 'map') {
    findings.add('M107', 'a step is a mapping', path, item.range, { hint: 'each step starts with  - name:' });
    return undefined;
  }
  steps.count++;
  if (steps.count === STEPS_MAX + 1)
    findings.add('M805', `a method has at most ${STEPS_MAX} steps`, path, [item.range[0], item.range[0]], {
      hint: 'call another method for a part of them',
    });
  return steps.count > STEPS_MAX ? undefined : context.readStep(context, item, path);
}
