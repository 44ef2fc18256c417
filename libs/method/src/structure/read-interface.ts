// Owns `inputs` and `result`: the fields a run is given, and the names and values of finished steps that it returns.
import type { CompiledValue } from '../compiled-value.ts';
import type { Findings } from '../source/findings.ts';
import { isFieldName, STEP_NAME } from '../source/names.ts';
import { isEmptyNode, type SourceEntry } from '../source/source-node.ts';
import type { TypeReader } from '../types/read-type.ts';
import { ANY, contains, type Field, type ObjectType } from '../types/type.ts';
import { type MethodContext, placeOf } from './step-context.ts';

const VALUES_MAX = 200;

interface GivenResult {
  readonly values: ReadonlyMap<string, CompiledValue>;
  readonly type: ObjectType;
}

/** Owns `result`, of the method and of groups: names and the values made of finished steps. */
export function readResult(context: MethodContext, entry: SourceEntry | undefined, at: string): GivenResult {
  const { findings, values } = context;
  const read = new Map<string, CompiledValue>();
  const fields = new Map<string, Field>();
  const place = placeOf(context, 'none');
  if (entry && entry.value.kind !== 'map' && !isEmptyNode(entry.value)) {
    findings.add('M310', 'result is a mapping of name: value', at, entry.value.range, {
      hint: 'for example  result: { id: =steps.order.id }',
    });
  }
  for (const { key, keyRange, value } of entry?.value.kind === 'map' ? entry.value.entries.values() : []) {
    const path = `${at}.${key}`;
    if (!isFieldName(key))
      findings.add('M203', `"${key.slice(0, 40)}" is not a field name`, path, keyRange, {
        hint: 'letters, digits and _',
      });
    else if (read.size >= VALUES_MAX) {
      findings.add('M803', `a result has at most ${VALUES_MAX} values`, path, keyRange, {
        hint: 'group related values in one object',
      });
      break;
    } else {
      const typed = values.value(value, path, place);
      read.set(key, typed.value);
      fields.set(key, { type: contains(typed.type, 'secret') ? ANY : typed.type, optional: false });
    }
  }
  return { values: read, type: { kind: 'object', fields } };
}

/** `inputs`: the fields a run is given. */
export function readInputs(findings: Findings, types: TypeReader, entry: SourceEntry | undefined): ObjectType {
  if (!entry) return { kind: 'object', fields: new Map() };
  const inputs = types.readFields(entry.value, 'inputs', 'inputs');
  if (entry.value.kind === 'map') {
    for (const { key, keyRange } of entry.value.entries.values()) {
      const name = key.replace(/\?$/, '');
      if (inputs.fields.has(name) && !STEP_NAME.test(name)) {
        findings.add('M203', `"${name.slice(0, 40)}" is not an input name`, `inputs.${name}`, keyRange, {
          hint: 'small letters, digits and _, such as order_id',
        });
      }
    }
  }
  types.refuse(inputs, ['secret'], entry.value, 'inputs', 'is not given as an input: declare it under secrets:');
  return inputs;
}
