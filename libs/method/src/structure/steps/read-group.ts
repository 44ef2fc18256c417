// Owns groups (`steps`): the steps inside and the value made of them.
import type { CompiledValue } from '../../compiled-value.ts';
import type { SourceEntry } from '../../source/source-node.ts';
import type { ObjectType } from '../../types/type.ts';
import type { KindFields } from '../kinds/kind-fields.ts';
import { readResult } from '../read-result.ts';
import type { StepContext } from '../step-context.ts';
import { readSteps } from './read-steps.ts';
import { innerScope } from './step-scope.ts';

export function readGroup(context: StepContext, entry: SourceEntry): KindFields {
  const inner = innerScope(context);
  const steps = readSteps(inner, entry, `${context.path}.steps`);
  const given = context.step.entries.get('result');
  let result: ReadonlyMap<string, CompiledValue> | null = null;
  let value: ObjectType = { kind: 'object', fields: new Map() };
  if (given) ({ values: result, type: value } = readResult(inner, given, `${context.path}.result`));
  return { fields: { kind: 'steps', steps, result }, value, inner };
}
