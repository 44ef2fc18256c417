// Owns node steps: the code, the variables given to it, and the mistakes visible without running it.
import type { CodeStep } from '../compiled-method.ts';
import type { CompiledValue } from '../compiled-value.ts';
import { type SourceEntry, type SourceNode, stringOf } from '../source/source-node.ts';
import { isVariableName } from './names.ts';
import { placeOf, type StepContext } from './step-context.ts';

const CODE_BYTES_MAX = 65_536;
const VARIABLES_MAX = 100;

type NodeFields = Pick<CodeStep, 'kind' | 'code' | 'codeLine' | 'inputs' | 'secrets' | 'stdout' | 'network'>;

export function readNode(context: StepContext, entry: SourceEntry): NodeFields {
  const { findings, path } = context;
  const at = `${path}.node`;
  const code = entry.value.kind === 'scalar' && typeof entry.value.value === 'string' ? entry.value.value : '';
  if (code.trim() === '')
    findings.add('M112', 'node needs code', at, entry.keyRange, { hint: 'write  node: |  and the code below' });
  else if (Buffer.byteLength(code) > CODE_BYTES_MAX) findings.add('M804', 'code is at most 64 KiB', at, entry.keyRange);
  const inputs = readIn(context, context.step.entries.get('in'));
  const secrets = readSecretNames(context, context.step.entries.get('secrets'));
  if (code !== '') checkCode(context, entry, code, inputs, secrets);
  const codeAt = entry.value.kind === 'scalar' ? entry.value.contentAt : entry.value.range[0];
  return {
    kind: 'node',
    code,
    codeLine: findings.source.positionOf(codeAt).line,
    inputs,
    secrets,
    stdout: null,
    network: true,
  };
}

/** `in`: a list of paths named after their last part, or name: value. */
function readIn(context: StepContext, entry: SourceEntry | undefined): ReadonlyMap<string, CompiledValue> {
  const { findings, values, path } = context;
  const variables = new Map<string, CompiledValue>();
  if (!entry) return variables;
  const place = placeOf(context, 'values');
  if (entry.value.kind === 'map') {
    for (const { key, keyRange, value } of entry.value.entries.values()) {
      if (!fits(context, variables, key, `${path}.in.${key}`, keyRange)) continue;
      variables.set(key, values.value(value, `${path}.in.${key}`, place).value);
    }
    return variables;
  }
  if (entry.value.kind !== 'list') {
    findings.add('M504', 'in is a list of paths or a mapping of name: value', `${path}.in`, entry.value.range, {
      hint: 'for example  in: [inputs.a, steps.b.c]',
    });
    return variables;
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
    if (fits(context, variables, name, at, item.range) && read) variables.set(name, read.expression);
  }
  return variables;
}

/** The last part of `inputs.a` or `steps.b?.c`; undefined for anything that is no path. */
export function lastPart(node: SourceNode): string | undefined {
  const text = stringOf(node);
  return text !== undefined && text.length <= 300 && /^[a-z]\w*(?:\??\.[A-Za-z_]\w*)+$/.test(text)
    ? text.split('.').at(-1)
    : undefined;
}

function fits(
  context: StepContext,
  variables: ReadonlyMap<string, unknown>,
  name: string,
  path: string,
  range: readonly [number, number],
): boolean {
  const { findings } = context;
  if (variables.has(name)) {
    findings.add('M204', `two values would both be named "${name}"`, path, range, {
      hint: 'use  in: { name: =expression }  to name them',
    });
  } else if (!isVariableName(name)) {
    findings.add('M203', `"${name.slice(0, 40)}" cannot be a variable in code`, path, range, {
      hint: `use  in: { my_${name.slice(0, 40).toLowerCase()}: … }`,
    });
  } else if (variables.size >= VARIABLES_MAX)
    findings.add('M803', `in has at most ${VARIABLES_MAX} values`, path, range);
  else return true;
  return false;
}

function readSecretNames(context: StepContext, entry: SourceEntry | undefined): string[] {
  if (!entry) return [];
  if (entry.value.kind !== 'list') {
    context.findings.add('M602', "a step's secrets is a list of names", `${context.path}.secrets`, entry.value.range, {
      hint: 'for example  secrets: [API_TOKEN]',
    });
    return [];
  }
  for (const [index, item] of entry.value.items.entries()) {
    context.values.secretName(item.kind === 'scalar' ? item.text : '', `${context.path}.secrets[${index}]`, item.range);
  }
  return context.values.takeSecretNames();
}

function checkCode(
  context: StepContext,
  entry: SourceEntry,
  code: string,
  inputs: ReadonlyMap<string, unknown>,
  secrets: readonly string[],
): void {
  const { findings, path } = context;
  const at = `${path}.node`;
  const template = /(?:\$\{\{?|\{\{)\s*(?:inputs|steps|secrets)\./.exec(code);
  if (template) {
    findings.warn(
      'M505',
      `code is never templated: "${template[0]}…" stays as it is`,
      at,
      entry.keyRange,
      'list the value under in: and use it as a variable',
    );
  }
  if (context.outType === null && /\breturn\s*[\w{["'`(]/.test(code)) {
    findings.warn(
      'M506',
      'the returned value is dropped: the step declares no out',
      at,
      entry.keyRange,
      'declare out: or remove the return',
    );
  }
  // One pass for all names: a pattern for each name would cost names times code.
  const words = new Set(code.match(/[A-Za-z_]\w*/g));
  const inEntry = context.step.entries.get('in');
  for (const name of inputs.keys()) {
    if (!words.has(name))
      findings.warn(
        'M507',
        `"${name}" is given to the step but its code does not use it`,
        `${path}.in`,
        inEntry?.keyRange ?? entry.keyRange,
      );
  }
  for (const name of context.secrets.names) {
    if (words.has(name) && !secrets.includes(name)) {
      findings.add('M603', `the code names ${name} but the step does not list it`, at, entry.keyRange, {
        hint: `add  secrets: [${[...secrets, name].join(', ')}]`,
      });
    }
  }
}
