// Owns the method as a whole: its parts, in the order they depend on each other.
import { ANSWER_POLICIES } from './answer-policy.ts';
import type { CompiledMethod, CompiledStep } from './compiled-method.ts';
import { readDependencies } from './dependencies/read-dependencies.ts';
import { readLib } from './dependencies/read-lib.ts';
import type { Root } from './expression/compile-expression.ts';
import { FUEL } from './expression/runtime.ts';
import type { JsonSchema } from './json.ts';
import type { Findings } from './source/findings.ts';
import type { SourceEntry, SourceMap, SourceNode } from './source/source-node.ts';
import { checkKeys, withTodaysNames } from './structure/check-keys.ts';
import { DeclaredSecrets } from './structure/declared-secrets.ts';
import { failureRoot } from './structure/error-kinds.ts';
import { METHOD_KEYS } from './structure/keys.ts';
import { readFormat, readName, readWords } from './structure/read-header.ts';
import { readInputs, readResult } from './structure/read-interface.ts';
import { readMethodLimits, resolveMethodLimits } from './structure/read-limits.ts';
import { ValueReader } from './structure/read-value.ts';
import { type Callees, type MethodContext, placeOf } from './structure/step-context.ts';
import { readChecks } from './structure/steps/read-checks.ts';
import { readStep } from './structure/steps/read-step.ts';
import { readSteps } from './structure/steps/read-steps.ts';
import { afterScope, withSteps } from './structure/steps/step-scope.ts';
import { writtenSchema } from './structure/written-schema.ts';
import { readTests } from './tests-section/read-tests.ts';
import { withFileIds } from './types/file-schema.ts';
import { SchemaWriter } from './types/json-schema.ts';
import { PatternBook } from './types/pattern.ts';
import { TypeReader } from './types/read-type.ts';
import { contains, type Field, type ObjectType, STRING } from './types/type.ts';
import { ValueFit } from './types/value-fit.ts';

// Only workflow/2 also reads these.
const LEGACY_METHOD_KEYS: ReadonlyMap<string, string> = new Map([['workflow', 'name']]);
const LEGACY_STEP_KEYS: ReadonlyMap<string, string> = new Map([
  ['human', 'ask'],
  ['outputs', 'out'],
]);

/** Reads a whole source tree; the method is only good when no error was found. */
export function readMethod(findings: Findings, root: SourceMap, callees: Callees): CompiledMethod {
  const format = readFormat(findings, root);
  const legacy = format === 'workflow/2';
  const map = legacy ? withTodaysNames(findings, root, LEGACY_METHOD_KEYS, '') : root;
  checkKeys(findings, map, METHOD_KEYS, '');
  const entry = (key: string) => map.entries.get(key);
  const name = readName(findings, map);
  const patterns = new PatternBook();
  const types = new TypeReader(findings, patterns);
  const secrets = new DeclaredSecrets(findings);
  const typesEntry = entry('types');
  if (typesEntry) types.readTypes(typesEntry.value);
  const secretsEntry = entry('secrets');
  if (secretsEntry) secrets.read(secretsEntry.value);
  const inputs = readInputs(findings, types, entry('inputs'));
  const limits = readMethodLimits(findings, entry('limits')?.value);
  const lib = readLib(findings, entry('lib'));
  const finished = new Map<string, Field>();
  const context: MethodContext = {
    findings,
    types,
    secrets,
    limits,
    lib,
    callees,
    finished,
    schemas: new SchemaWriter(),
    values: new ValueReader(findings, secrets, patterns),
    roots: withSteps(rootsOf(inputs), finished),
    names: new Set(),
    outTypes: new Map(),
    later: stepNames(map),
    hidden: new Map(),
    facts: new Set(),
    legacyKeys: legacy ? LEGACY_STEP_KEYS : new Map(),
    readStep,
    answerFit: new ValueFit(),
    answerTank: { left: FUEL },
    steps: { count: 0 },
    level: 1,
    atOnce: false,
  };
  const require = readRequire(context, entry('require'));
  const steps = readMainSteps(context, map);
  const ensure = readChecks(context, entry('ensure'), 'ensure', placeOf(context, 'none'));
  const result = readResult(context, entry('result'), 'result');
  const after = readAfter(context, map);
  const tests = readTests(context, entry('tests'), {
    source: map,
    inputs,
    result: result.type,
    steps: [...steps, ...after.onFailure, ...after.finally],
    checks: [...require, ...ensure],
    hasLib: Object.keys(lib).length > 0,
  });
  // With errors, a use may be in a part that could not be read.
  if (!findings.refused) secrets.warnUnused();
  return {
    format: format ?? 'method/2',
    name,
    ...readWords(findings, map, ''),
    features: featuresOf([...steps, ...after.onFailure, ...after.finally]),
    secrets: secrets.all,
    limits: resolveMethodLimits(limits),
    inputSchema: inputSchema(context, inputs, entry('inputs')),
    resultSchema: writtenSchema(context, result.type, { path: 'result', range: entry('result')?.keyRange ?? NOWHERE }),
    dependencies: readDependencies(findings, entry('dependencies')),
    lib,
    require,
    steps,
    ensure,
    ...after,
    result: result.values,
    tests,
  };
}

const NOWHERE = [0, 0] as const;

function inputSchema(context: MethodContext, inputs: ObjectType, entry: SourceEntry | undefined): JsonSchema {
  const schema = writtenSchema(context, inputs, { path: 'inputs', range: entry?.keyRange ?? NOWHERE });
  return contains(inputs, 'file') ? withFileIds(schema) : schema;
}

/** The names every expression may read, `steps` apart. */
function rootsOf(inputs: ObjectType): ReadonlyMap<string, Root> {
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
  ]);
}

/** The names of all steps, inner ones included. */
function stepNames(map: SourceMap): Set<string> {
  const names = new Set<string>();
  const collect = (node: SourceNode | undefined): void => {
    for (const item of node?.kind === 'list' ? node.items : []) {
      if (item.kind !== 'map') continue;
      const name = item.entries.get('name')?.value;
      if (name?.kind === 'scalar' && name.text !== '') names.add(name.text);
      collect(item.entries.get('steps')?.value);
      collect(item.entries.get('parallel')?.value);
    }
  };
  for (const key of ['steps', 'on_failure', 'finally']) collect(map.entries.get(key)?.value);
  return names;
}

/** The method's `require`: it is asked when a run is created, before there is anything but inputs. */
function readRequire(context: MethodContext, entry: SourceEntry | undefined) {
  const roots = new Map([...context.roots].filter(([name]) => name === 'inputs'));
  return readChecks(context, entry, 'require', placeOf({ ...context, roots }, 'none'));
}

function readMainSteps(context: MethodContext, map: SourceMap): CompiledStep[] {
  const entry = map.entries.get('steps');
  if (entry) return readSteps(context, entry, 'steps');
  context.findings.add('M102', 'steps is missing', 'steps', [map.range[0], map.range[0]], {
    hint: 'add  steps:  with a list of steps',
  });
  return [];
}

/** `on_failure` and `finally`: the earlier steps may not have run. */
function readAfter(context: MethodContext, map: SourceMap): Pick<CompiledMethod, 'onFailure' | 'finally'> {
  const failure = map.entries.get('on_failure');
  const last = map.entries.get('finally');
  const failed = withRoots(afterScope(context), failureRoot(true, context.names));
  const onFailure = failure ? readSteps(failed, failure, 'on_failure') : [];
  const ended = withRoots(afterScope(failed), failureRoot(false, context.names));
  return { onFailure, finally: last ? readSteps(ended, last, 'finally') : [] };
}

function withRoots(context: MethodContext, more: ReadonlyMap<string, Root>): MethodContext {
  return { ...context, roots: new Map([...context.roots, ...more]) };
}

/** The kinds and newer keys used, at any depth. */
function featuresOf(steps: readonly CompiledStep[]): string[] {
  const kinds = new Set<string>();
  const visit = (step: CompiledStep): void => {
    kinds.add(step.kind);
    if (step.kind === 'ask' && step.policy !== null) kinds.add(ANSWER_POLICIES);
    if (step.kind === 'steps' || step.kind === 'parallel') step.steps.forEach(visit);
  };
  steps.forEach(visit);
  return [...kinds].sort();
}
