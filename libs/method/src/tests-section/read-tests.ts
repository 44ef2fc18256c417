// Owns the top-level `tests`: each is a run with given inputs, mocked steps and answers, and an expected outcome.
import type { CompiledCheck, CompiledStep, MethodTest } from '../compiled-method.ts';
import { hintNearest } from '../source/did-you-mean.ts';
import { jsonOf, type SourceEntry, type SourceMap, type SourceNode } from '../source/source-node.ts';
import { checkKeys } from '../structure/check-keys.ts';
import type { MethodContext } from '../structure/step-context.ts';
import type { ObjectType } from '../types/type.ts';
import { ValueFit } from '../types/value-fit.ts';
import { readExpect } from './read-expect.ts';
import { readAnswers, readMocks } from './read-stand-ins.ts';
import { StepIndex } from './step-index.ts';
import { entriesOrReport, itemsOrReport, reportMisfit, type TestContext } from './test-context.ts';
import { TEST_KEYS } from './test-keys.ts';

const TESTS_MAX = 100;
const NAME_CHARACTERS_MAX = 120;

/** The method under test, in its parts that could be read. */
export interface TestedMethod {
  readonly source: SourceMap;
  readonly inputs: ObjectType;
  readonly result: ObjectType;
  readonly steps: readonly CompiledStep[];
  /** The method's own `require` and `ensure`. */
  readonly checks: readonly CompiledCheck[];
  readonly hasLib: boolean;
}

/** Reads `tests` once all steps are read: they name and read any of them. */
export function readTests(
  method: MethodContext,
  entry: SourceEntry | undefined,
  { source, inputs, result, steps, checks, hasLib }: TestedMethod,
): MethodTest[] {
  if (!entry) return [];
  const context: TestContext = {
    method,
    index: new StepIndex(source, method.legacyKeys),
    fit: new ValueFit(),
    inputs,
    result,
    // A step that could not be read may hold the check.
    checkNames: hasLib || method.findings.refused ? null : checkNamesOf(steps, checks),
  };
  const names = new Set<string>();
  const tests: MethodTest[] = [];
  for (const [index, item] of itemsOrReport(context, entry, 'tests', 'each test starts with  - name:')) {
    if (index === TESTS_MAX) {
      method.findings.add('M803', `a method has at most ${TESTS_MAX} tests`, 'tests', entry.keyRange, {
        hint: 'remove some, or split the method',
      });
      break;
    }
    const test = readTest(context, item, `tests[${index}]`, names);
    if (test) tests.push(test);
  }
  return tests;
}

function readTest(context: TestContext, node: SourceNode, path: string, names: Set<string>): MethodTest | undefined {
  const { findings } = context.method;
  if (node.kind !== 'map') {
    findings.add('M902', 'a test is a mapping', path, node.range, { hint: 'each test starts with  - name:' });
    return undefined;
  }
  checkKeys(findings, node, TEST_KEYS, path);
  const entry = (key: string) => node.entries.get(key);
  const test = {
    line: findings.source.positionOf(node.range[0]).line,
    inputs: readInputs(context, entry('inputs'), node, `${path}.inputs`),
    secrets: readSecrets(context, entry('secrets'), `${path}.secrets`),
    mock: readMocks(context, entry('mock'), `${path}.mock`),
    answers: readAnswers(context, entry('answers'), `${path}.answers`),
    expect: readExpect(context, entry('expect'), `${path}.expect`),
  };
  const name = readName(context, node, path, names);
  return name === undefined ? undefined : { name, ...test };
}

function readName(context: TestContext, node: SourceMap, path: string, names: Set<string>): string | undefined {
  const { findings } = context.method;
  const entry = node.entries.get('name');
  if (!entry) {
    findings.add('M102', 'a test needs a name', `${path}.name`, [node.range[0], node.range[0]], {
      hint: 'add  name: a rejected refund does nothing',
    });
    return undefined;
  }
  const { range } = entry.value;
  const name = entry.value.kind === 'scalar' ? entry.value.text.trim() : '';
  if (name === '' || name.length > NAME_CHARACTERS_MAX || name.includes('\n'))
    findings.add('M203', `the name of a test is a sentence of 1 to ${NAME_CHARACTERS_MAX} characters`, path, range);
  else if (names.has(name))
    findings.add('M204', `the test "${name}" is declared twice`, path, range, { hint: 'rename one of the two' });
  else {
    names.add(name);
    return name;
  }
  return undefined;
}

function readInputs(
  context: TestContext,
  entry: SourceEntry | undefined,
  test: SourceMap,
  path: string,
): MethodTest['inputs'] {
  const { findings } = context.method;
  const known = context.inputs.fields;
  const entries = new Map<string, SourceEntry>();
  for (const given of entriesOrReport(context, entry, path, 'for example  inputs: { amount: 5 }')) {
    if (known.has(given.key)) entries.set(given.key, given);
    else
      findings.add('M901', `no input "${given.key.slice(0, 40)}"`, `${path}.${given.key}`, given.keyRange, {
        hint: () => hintNearest(given.key, known.keys(), 'inputs'),
      });
  }
  const range = entry?.keyRange ?? ([test.range[0], test.range[0]] as const);
  const inputs: SourceMap = { kind: 'map', range, entries };
  reportMisfit(context, 'the inputs do not fit', context.fit.fields(inputs, context.inputs, path, ''));
  return jsonOf(inputs);
}

function readSecrets(context: TestContext, entry: SourceEntry | undefined, path: string): Map<string, string> {
  const { findings, secrets } = context.method;
  const values = new Map<string, string>();
  for (const { key, keyRange, value } of entriesOrReport(
    context,
    entry,
    path,
    'for example  secrets: { TOKEN: made-up }',
  )) {
    const at = `${path}.${key}`;
    if (!secrets.has(key))
      findings.add('M901', `no secret "${key.slice(0, 40)}"`, at, keyRange, {
        hint: () => hintNearest(key, secrets.names, 'secrets'),
      });
    else if (value.kind !== 'scalar' || value.text === '')
      findings.add('M104', 'a secret is text', at, value.range, { hint: 'make one up: tests never need a real one' });
    else values.set(key, value.text);
  }
  return values;
}

/** The sentences of all declared checks; null when a step's code may make checks of its own. */
function checkNamesOf(steps: readonly CompiledStep[], checks: readonly CompiledCheck[]): Set<string> | null {
  const names = new Set(checks.map((check) => check.name));
  const waiting = [...steps];
  for (let step = waiting.pop(); step !== undefined; step = waiting.pop()) {
    if (step.kind === 'node' || step.kind === 'python' || step.kind === 'shell' || step.kind === 'call') return null;
    if (step.kind === 'steps' || step.kind === 'parallel') waiting.push(...step.steps);
    const own = step.kind === 'check' ? step.checks : [];
    for (const check of [...step.require, ...step.ensure, ...own]) names.add(check.name);
  }
  return names;
}
