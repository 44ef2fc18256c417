// Owns `in`: the values given to code and to called methods, by name.

import { isVariableName, STEP_NAME } from '../../source/names.ts';
import { type SourceNode, stringOf } from '../../source/source-node.ts';
import type { Range } from '../../source/source-text.ts';
import type { TypedValue, ValuePlace } from '../read-value.ts';
import type { StepContext } from '../step-context.ts';

const VALUES_MAX = 100;

export interface GivenValue extends TypedValue {
  readonly range: Range;
  /** The place of the name. */
  readonly keyRange: Range;
}

/** Reads a list of paths named after their last part, or name: value. `names` says what the names must be good for. */
export function readIn(
  context: StepContext,
  place: ValuePlace,
  names: 'variables' | 'inputs',
): ReadonlyMap<string, GivenValue> {
  const { findings, values, path, step } = context;
  const entry = step.entries.get('in');
  const given = new Map<string, GivenValue>();
  if (!entry) return given;
  if (entry.value.kind === 'map') {
    for (const { key, keyRange, value } of entry.value.entries.values()) {
      const at = `${path}.in.${key}`;
      if (fits(context, given, key, at, keyRange, names))
        given.set(key, { ...values.value(value, at, place), range: value.range, keyRange });
    }
    return given;
  }
  if (entry.value.kind !== 'list') {
    findings.add('M504', 'in is a list of paths or a mapping of name: value', `${path}.in`, entry.value.range, {
      hint: 'for example  in: [inputs.a, steps.b.c]',
    });
    return given;
  }
  for (const [index, item] of entry.value.items.entries()) {
    const at = `${path}.in[${index}]`;
    const name = lastPart(item);
    if (name === undefined) {
      findings.add('M504', 'each entry of an in list is a path such as steps.a.b', at, item.range, {
        hint: 'use  in: { name: =expression }  for other values',
      });
      continue;
    }
    const read = values.expression(item, at, place);
    if (fits(context, given, name, at, item.range, names) && read)
      given.set(name, { value: read.expression, type: read.type, range: item.range, keyRange: item.range });
  }
  return given;
}

/** The last part of `inputs.a`, `steps.b?.c` or the item of a loop; undefined for anything that is no path. */
export function lastPart(node: SourceNode): string | undefined {
  const text = stringOf(node);
  return text !== undefined && text.length <= 300 && /^[a-z]\w*(?:\??\.[A-Za-z_]\w*)*$/.test(text)
    ? text.split('.').at(-1)
    : undefined;
}

function fits(
  context: StepContext,
  given: ReadonlyMap<string, unknown>,
  name: string,
  path: string,
  range: Range,
  names: 'variables' | 'inputs',
): boolean {
  const { findings } = context;
  if (given.has(name)) {
    findings.add('M204', `two values would both be named "${name}"`, path, range, {
      hint: 'use  in: { name: =expression }  to name them',
    });
  } else if (names === 'variables' ? !isVariableName(name) : !STEP_NAME.test(name)) {
    const why = names === 'variables' ? 'cannot be a variable in code' : 'is not an input name';
    findings.add('M203', `"${name.slice(0, 40)}" ${why}`, path, range, {
      hint: `use  in: { my_${name.slice(0, 40).toLowerCase()}: … }`,
    });
  } else if (given.size >= VALUES_MAX)
    findings.add('M803', `in has at most ${VALUES_MAX} values`, path, range, {
      hint: 'give one object instead',
    });
  else return true;
  return false;
}
