// Owns one step: its keys, name and kind, its condition and out, and the hand-over to the reader of its kind.
import { compileCheck, type ValueCheck } from '../check-value.ts';
import type { CompiledStep, OutFields } from '../compiled-method.ts';
import type { CompiledExpression } from '../compiled-value.ts';
import type { Expr } from '../expression/expression-tree.ts';
import { conjunctsOf, type Facts, factsOf, truth } from '../expression/narrowing.ts';
import type { JsonValue } from '../json.ts';
import type { SourceEntry, SourceMap } from '../source/source-node.ts';
import { ANY, contains, type ObjectType } from '../types/type.ts';
import { checkKeys, withTodaysNames } from './check-keys.ts';
import { KINDS, STEP_KEYS } from './keys.ts';
import { STEP_NAME } from './names.ts';
import { readAsk } from './read-ask.ts';
import { readHttp } from './read-http.ts';
import { readStepLimits, resolveStepLimits } from './read-limits.ts';
import { readNode } from './read-node.ts';
import { readWords } from './read-words.ts';
import type { MethodContext, StepContext } from './step-context.ts';

// Keys of a step that say nothing for its kind (M111).
const WITHOUT_MEANING: ReadonlyMap<string, readonly string[]> = new Map([
  ['http', ['in', 'secrets']],
  ['ask', ['in', 'secrets']],
]);

// Until their keys are read.
const PLAIN = {
  loop: null,
  require: [],
  ensure: [],
  retry: null,
  onError: 'fail',
  onInterrupt: 'rerun',
} as const;

const LOOP_KEYS = ['each', 'as', 'repeat'];

/** Reads one step and makes it readable for the steps after it; undefined when its kind cannot be told or is not built. */
export function readStep(method: MethodContext, given: SourceMap, path: string): CompiledStep | undefined {
  const { findings } = method;
  const step = withTodaysNames(findings, given, method.legacyKeys, path);
  checkKeys(findings, step, STEP_KEYS, path);
  const name = readName(method, step, path);
  const kind = readKind(method, step, path);
  const condition = readCondition(method, step.entries.get('if'), path);
  const outEntry = step.entries.get('out');
  const outType = outEntry ? method.types.readFields(outEntry.value, `${path}.out`, 'out') : null;
  const out = outType === null || outType.fields.size === 0 ? null : outFields(method, outType);
  const context: StepContext = {
    ...method,
    step,
    path,
    facts: condition?.facts.yes ?? new Set(),
    out,
    outType: out === null ? null : outType,
  };
  const limits = readLimitsOf(context, kind);
  // A loop changes the step's names and type; while loops are not available, only their keys are reported (M113).
  const readable = !LOOP_KEYS.some((key) => step.entries.has(key));
  const fields = kind && readable ? readKindFields(context, kind.key, kind.entry) : undefined;
  if (name !== undefined)
    finish(method, name, kind !== undefined && readable, out === null ? null : outType, condition);
  if (!fields || !limits || name === undefined) return undefined;
  return {
    name,
    ...readWords(findings, step, path),
    line: findings.source.positionOf(step.range[0]).line,
    ...(condition === undefined ? {} : { condition: condition.expression }),
    ...PLAIN,
    out,
    limits,
    ...fields,
  };
}

function readName(method: MethodContext, step: SourceMap, path: string): string | undefined {
  const { findings } = method;
  const entry = step.entries.get('name');
  if (!entry) {
    findings.add('M102', 'a step needs a name', `${path}.name`, step.range, { hint: 'add  name: fetch_order' });
    return undefined;
  }
  const text = entry.value.kind === 'scalar' ? entry.value.text : '';
  if (!STEP_NAME.test(text)) {
    findings.add('M203', `"${text.slice(0, 40)}" is not a step name`, `${path}.name`, entry.value.range, {
      hint: 'small letters, digits and _, such as fetch_order',
    });
    return undefined;
  }
  if (method.finished.has(text)) {
    findings.add('M204', `the step name "${text}" is used twice`, `${path}.name`, entry.value.range, {
      hint: 'rename one of the two',
    });
    return undefined;
  }
  return text;
}

type BuiltKind = 'node' | 'http' | 'ask';

/** The one kind; undefined with a finding, or silently when it is one not available yet (the key itself is M113). */
function readKind(
  method: MethodContext,
  step: SourceMap,
  path: string,
): { key: BuiltKind; entry: SourceEntry } | undefined {
  const { findings } = method;
  const present = KINDS.filter((kind) => step.entries.has(kind));
  const [key, second] = present;
  const entry = key === undefined ? undefined : step.entries.get(key);
  if (key === undefined || entry === undefined) {
    findings.add('M108', 'the step has no kind', path, step.range, { hint: `one of ${KINDS.slice(0, 9).join(', ')}` });
    return undefined;
  }
  if (second !== undefined) {
    findings.add(
      'M109',
      `the step has two kinds: ${present.join(' and ')}`,
      `${path}.${second}`,
      step.entries.get(second)?.keyRange ?? step.range,
      { hint: 'make two steps of it' },
    );
    return undefined;
  }
  if (key !== 'node' && key !== 'http' && key !== 'ask') return undefined;
  for (const unused of WITHOUT_MEANING.get(key) ?? []) {
    const without = step.entries.get(unused);
    if (without)
      findings.add('M111', `"${unused}" has no meaning for ${key}`, `${path}.${unused}`, without.keyRange, {
        hint: 'remove it',
      });
  }
  return { key, entry };
}

interface Condition {
  readonly expression: CompiledExpression;
  readonly tree: Expr;
  readonly facts: Facts;
}

function readCondition(method: MethodContext, entry: SourceEntry | undefined, path: string): Condition | undefined {
  if (!entry) return undefined;
  const place = { roots: method.roots, facts: new Set<string>(), secrets: 'none' as const, laterSteps: method.later };
  const read = method.values.expression(entry.value, `${path}.if`, place, 'condition');
  if (!read) return undefined;
  const { source } = read.expression;
  return {
    expression: read.expression,
    tree: read.tree,
    facts: factsOf(read.tree, (node) => source.slice(node.start, node.end)),
  };
}

function readLimitsOf(context: StepContext, kind: { key: BuiltKind } | undefined): CompiledStep['limits'] | undefined {
  if (!kind) return undefined;
  const own = readStepLimits(
    context.findings,
    context.step.entries.get('limits')?.value,
    kind.key,
    `${context.path}.limits`,
  );
  return resolveStepLimits(kind.key, own, context.limits);
}

function readKindFields(context: StepContext, kind: BuiltKind, entry: SourceEntry) {
  switch (kind) {
    case 'node':
      return readNode(context, entry);
    case 'http':
      return readHttp(context, entry);
    case 'ask':
      return readAsk(context, entry);
  }
}

function outFields(method: MethodContext, type: ObjectType): OutFields {
  const schema = method.schemas.schemaOf(type);
  let check: ((value: JsonValue) => ValueCheck) | undefined;
  return {
    names: [...type.fields.keys()],
    schema,
    hasSecret: contains(type, 'secret'),
    hasFile: contains(type, 'file'),
    check: (value) => {
      // Compiling takes milliseconds, and most processes that hold a method never check this out.
      check ??= compileCheck(schema);
      return check(value);
    },
  };
}

/** Lets later steps read `steps.<name>`: null in runs where the step's `if` was false. */
function finish(
  method: MethodContext,
  name: string,
  known: boolean,
  outType: ObjectType | null,
  condition: Condition | undefined,
): void {
  method.later.delete(name);
  // A step that could not be read must not make errors of everything that reads it.
  const type = known ? (outType ?? { kind: 'object' as const, fields: new Map() }) : ANY;
  if (!condition || !known) {
    method.finished.set(name, { type, optional: false });
    return;
  }
  const { source } = condition.expression;
  const guards = conjunctsOf(condition.tree).map((part) => truth(source.slice(part.start, part.end)));
  method.finished.set(name, { type, optional: true, guards });
}
