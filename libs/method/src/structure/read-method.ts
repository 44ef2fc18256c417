// Owns the method as a whole: header, inputs, types, secrets, limits, steps and result, in the order they depend on each other.
import type { CompiledMethod, CompiledStep } from '../compiled-method.ts';
import type { CompiledValue } from '../compiled-value.ts';
import type { Root } from '../expression/compile-expression.ts';
import type { Findings } from '../source/findings.ts';
import { isEmptyNode, type SourceEntry, type SourceMap } from '../source/source-node.ts';
import { SchemaTooLarge, SchemaWriter } from '../types/json-schema.ts';
import { PatternBook } from '../types/pattern.ts';
import { TypeReader } from '../types/read-type.ts';
import { ANY, contains, type Field, type ObjectType, STRING } from '../types/type.ts';
import { checkKeys, withTodaysNames } from './check-keys.ts';
import { DeclaredSecrets } from './declared-secrets.ts';
import { hintNearest } from './did-you-mean.ts';
import { METHOD_KEYS } from './keys.ts';
import { isFieldName, METHOD_NAME, STEP_NAME } from './names.ts';
import { readMethodLimits, resolveMethodLimits } from './read-limits.ts';
import { readStep } from './read-step.ts';
import { ValueReader } from './read-value.ts';
import { readWords } from './read-words.ts';
import type { MethodContext } from './step-context.ts';

const STEPS_MAX = 200;
const RESULTS_MAX = 200;
const FORMATS = ['method/2', 'workflow/2'] as const;

// Only workflow/2 also reads these.
const LEGACY_METHOD_KEYS: ReadonlyMap<string, string> = new Map([['workflow', 'name']]);
const LEGACY_STEP_KEYS: ReadonlyMap<string, string> = new Map([
  ['human', 'ask'],
  ['outputs', 'out'],
]);

/** Reads a whole source tree; the method is only good when no error was found. */
export function readMethod(findings: Findings, root: SourceMap): CompiledMethod {
  const format = readFormat(findings, root);
  const legacy = format === 'workflow/2';
  const map = legacy ? withTodaysNames(findings, root, LEGACY_METHOD_KEYS, '') : root;
  checkKeys(findings, map, METHOD_KEYS, '');
  const name = readName(findings, map);
  const patterns = new PatternBook();
  const types = new TypeReader(findings, patterns);
  const secrets = new DeclaredSecrets(findings);
  const typesEntry = map.entries.get('types');
  if (typesEntry) types.readTypes(typesEntry.value);
  const secretsEntry = map.entries.get('secrets');
  if (secretsEntry) secrets.read(secretsEntry.value);
  const inputs = readInputs(findings, types, map.entries.get('inputs'));
  const limits = readMethodLimits(findings, map.entries.get('limits')?.value);
  const finished = new Map<string, Field>();
  const context: MethodContext = {
    findings,
    types,
    secrets,
    limits,
    finished,
    schemas: new SchemaWriter(),
    values: new ValueReader(findings, secrets, patterns),
    roots: rootsOf(inputs, finished),
    later: stepNames(map.entries.get('steps')),
    legacyKeys: legacy ? LEGACY_STEP_KEYS : new Map(),
  };
  const steps = readSteps(context, map);
  const result = readResult(context, map.entries.get('result'));
  // With errors about, a use may stand in a part that could not be read.
  if (!findings.refused) secrets.warnUnused();
  return {
    format: format ?? 'method/2',
    name,
    ...readWords(findings, map, ''),
    features: [...new Set(steps.map((step) => step.kind))].sort(),
    secrets: secrets.all,
    limits: resolveMethodLimits(limits),
    inputSchema: context.schemas.schemaOf(inputs),
    resultSchema: result.schema,
    dependencies: { node: null, python: null, npm: [], pip: [], commands: [] },
    lib: {},
    require: [],
    steps,
    ensure: [],
    onFailure: [],
    finally: [],
    result: result.values,
    tests: [],
  };
}

function readFormat(findings: Findings, root: SourceMap): (typeof FORMATS)[number] | undefined {
  const entry = root.entries.get('format');
  if (!entry) {
    findings.add('M102', 'format is missing', 'format', [root.range[0], root.range[0]], {
      hint: 'add  format: method/2',
    });
    return undefined;
  }
  const text = entry.value.kind === 'scalar' ? entry.value.text : '';
  const known = FORMATS.find((format) => format === text);
  if (!known) {
    findings.add('M103', `unknown format "${text.slice(0, 40)}"`, 'format', entry.value.range, {
      hint: hintNearest(text, FORMATS) ?? 'write  format: method/2',
    });
  }
  return known;
}

function readName(findings: Findings, map: SourceMap): string {
  const entry = map.entries.get('name');
  if (!entry) {
    findings.add('M102', 'name is missing', 'name', [map.range[0], map.range[0]], { hint: 'add  name: my-method' });
    return '';
  }
  const text = entry.value.kind === 'scalar' ? entry.value.text : '';
  if (METHOD_NAME.test(text)) return text;
  findings.add('M203', `"${text.slice(0, 40)}" is not a method name`, 'name', entry.value.range, {
    hint: 'small letters, digits and -, 2 to 64 characters; words for people go to title',
  });
  return '';
}

function readInputs(findings: Findings, types: TypeReader, entry: SourceEntry | undefined): ObjectType {
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

/** The names every expression may read. `steps` grows while steps are read. */
function rootsOf(inputs: ObjectType, finished: ReadonlyMap<string, Field>): ReadonlyMap<string, Root> {
  const text = { type: STRING, optional: false };
  const datetime = { type: { kind: 'string', format: 'date-time', bounds: {} }, optional: false } as const;
  const run: ObjectType = {
    kind: 'object',
    fields: new Map<string, Field>([
      ['id', text],
      ['started_at', datetime],
      ['version_id', text],
    ]),
  };
  return new Map<string, Root>([
    ['inputs', { type: inputs, read: (frame) => frame.scope.inputs }],
    ['run', { type: run, read: (frame) => frame.scope.run }],
    ['steps', { type: { kind: 'object', fields: finished, growing: true }, read: (frame) => frame.scope.steps }],
  ]);
}

function stepNames(entry: SourceEntry | undefined): Set<string> {
  const items = entry?.value.kind === 'list' ? entry.value.items : [];
  const names = items.map((item) => (item.kind === 'map' ? item.entries.get('name')?.value : undefined));
  return new Set(names.map((name) => (name?.kind === 'scalar' ? name.text : '')).filter((name) => name !== ''));
}

function readSteps(context: MethodContext, map: SourceMap): CompiledStep[] {
  const { findings } = context;
  const entry = map.entries.get('steps');
  if (!entry) {
    findings.add('M102', 'steps is missing', 'steps', [map.range[0], map.range[0]], {
      hint: 'add  steps:  with a list of steps',
    });
    return [];
  }
  if (entry.value.kind !== 'list' || entry.value.items.length === 0) {
    findings.add('M107', 'steps is a list of one step or more', 'steps', entry.keyRange, {
      hint: 'each step starts with  - name:',
    });
    return [];
  }
  if (entry.value.items.length > STEPS_MAX)
    findings.add('M805', `a method has at most ${STEPS_MAX} steps`, 'steps', entry.keyRange);
  const steps: CompiledStep[] = [];
  for (const [index, item] of entry.value.items.slice(0, STEPS_MAX).entries()) {
    const path = `steps[${index}]`;
    if (item.kind !== 'map')
      findings.add('M107', 'a step is a mapping', path, item.range, { hint: 'each step starts with  - name:' });
    else {
      const step = readStep(context, item, path);
      if (step) steps.push(step);
    }
  }
  return steps;
}

function readResult(context: MethodContext, entry: SourceEntry | undefined) {
  const { findings, values, roots, schemas } = context;
  const read = new Map<string, CompiledValue>();
  const fields = new Map<string, Field>();
  const place = { roots, facts: new Set<string>(), secrets: 'none' as const, laterSteps: context.later };
  if (entry && entry.value.kind !== 'map' && !isEmptyNode(entry.value)) {
    findings.add('M310', 'result is a mapping of name: value', 'result', entry.value.range, {
      hint: 'for example  result: { id: =steps.order.id }',
    });
  }
  for (const { key, keyRange, value } of entry?.value.kind === 'map' ? entry.value.entries.values() : []) {
    const path = `result.${key}`;
    if (!isFieldName(key))
      findings.add('M203', `"${key.slice(0, 40)}" is not a field name`, path, keyRange, {
        hint: 'letters, digits and _',
      });
    else if (read.size >= RESULTS_MAX) {
      findings.add('M803', `a result has at most ${RESULTS_MAX} values`, path, keyRange);
      break;
    } else {
      const typed = values.value(value, path, place);
      read.set(key, typed.value);
      fields.set(key, { type: contains(typed.type, 'secret') ? ANY : typed.type, optional: false });
    }
  }
  try {
    return { values: read, schema: schemas.schemaOf({ kind: 'object', fields }) };
  } catch (error) {
    if (!(error instanceof SchemaTooLarge)) throw error;
    findings.add('M803', 'the types of the result are too large together', 'result', entry?.keyRange ?? [0, 0], {
      hint: 'name them under types:',
    });
    return { values: read, schema: {} };
  }
}
