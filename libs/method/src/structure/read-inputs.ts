// Owns `inputs`: the fields a run is given.
import type { Findings } from '../source/findings.ts';
import { STEP_NAME } from '../source/names.ts';
import type { SourceEntry } from '../source/source-node.ts';
import type { TypeReader } from '../types/read-type.ts';
import type { ObjectType } from '../types/type.ts';

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
