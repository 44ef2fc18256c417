// Owns one step: its name, the order its keys depend on each other, and the hand-over to the reader of its kind.

import { type CheckValue, compileCheck } from '../../check-value.ts';
import type { CompiledStep, EachLoop, OutFields, RepeatLoop, StepBase } from '../../compiled-method.ts';
import type { CompiledExpression } from '../../compiled-value.ts';
import type { Root } from '../../expression/compile-expression.ts';
import { factsOf } from '../../expression/narrowing.ts';
import { STEP_NAME } from '../../source/names.ts';
import type { SourceEntry, SourceMap } from '../../source/source-node.ts';
import { contains, type ObjectType } from '../../types/type.ts';
import { checkKeys, withTodaysNames } from '../check-keys.ts';
import { ERROR_ROOT } from '../error-kinds.ts';
import { STEP_KEYS } from '../keys.ts';
import { RESPONSE } from '../kinds/http-response.ts';
import { judgeTimeoutAnswer } from '../kinds/read-timeout-answer.ts';
import { readWords } from '../read-header.ts';
import { type GivenLimits, readStepLimits, resolveStepLimits } from '../read-limits.ts';
import { type MethodContext, placeOf, type StepContext, stepContext } from '../step-context.ts';
import { type Declared, writtenSchema } from '../written-schema.ts';
import { readChecks } from './read-checks.ts';
import { readKindFields } from './read-kind-fields.ts';
import { type GivenLoop, readLoop, readUntil } from './read-loop.ts';
import { readOnError, readOnInterrupt, readRetry } from './read-policies.ts';
import { type GivenKind, readKind, usableEntry } from './step-kind.ts';
import { finishedField, guardsOf, hide, itemScope, namesLast, publish, roundScope, UNREADABLE } from './step-scope.ts';

const NO_FIELDS: ObjectType = { kind: 'object', fields: new Map() };

/** Reads one step and makes it readable for the steps after it; undefined when its kind is unknown. */
export function readStep(outer: MethodContext, given: SourceMap, path: string): CompiledStep | undefined {
  const { findings } = outer;
  const step = withTodaysNames(findings, given, outer.legacyKeys, path);
  checkKeys(findings, step, STEP_KEYS, path);
  const name = readName(outer, step, path);
  const kind = readKind(outer, step, path);
  const outType = readOut(outer, step, kind, path);
  const outPlace = { path: `${path}.out`, range: step.entries.get('out')?.keyRange ?? given.range };
  const loop = readLoop(outer, step, kind?.key, path);
  const rounds = roundsOf(outer, step, kind, loop, outType);
  // `each` asks its `if` in every round, about the item; `repeat` asks once, before there is a `last`.
  const condition = readCondition(loop?.kind === 'each' ? rounds : outer, step.entries.get('if'), path);
  const onError = readOnError(findings, step.entries.get('on_error'), path);
  const context = stepContext(rounds, {
    facts: new Set([...rounds.facts, ...factsInRounds(condition, loop)]),
    atOnce: outer.atOnce || (loop?.kind === 'each' && loop.atOnce > 1),
    step,
    path,
    name: name ?? '',
    ownLimits: readOwnLimits(outer, step, kind, path),
    out: outType === null ? null : outFields(outer, outType, outPlace),
    outType,
  });
  const base = readBase(context, kind);
  const read = kind && readKindFields(context, kind.key, kind.entry);
  const value = read?.value ?? outType ?? NO_FIELDS;
  const after: MethodContext = read?.inner ? { ...context, ...scopeOf(read.inner) } : context;
  if (read?.inner && loop !== null)
    hide(read.inner, outer, `it belongs to a round of "${context.name}": read it there, or give it out with result`);
  const results = readResults(context, after, kind, value);
  if (read?.fields.kind === 'ask') judgeTimeoutAnswer(context, read.fields.policy, results.ensure);
  const closed = loop === null ? null : closeLoop(context, loop, value);
  const presence = { guards: condition?.guards ?? null, onError, loop: loop?.kind ?? null };
  if (read?.inner && loop === null) publish(read.inner, outer, presence);
  if (name !== undefined) {
    outer.later.delete(name);
    if (kind) outer.outTypes.set(name, outType ?? NO_FIELDS);
    outer.finished.set(name, kind ? finishedField(value, presence) : UNREADABLE);
  }
  if (!kind || !read || name === undefined) return undefined;
  return {
    name,
    ...base,
    ...(condition === undefined ? {} : { condition: condition.expression }),
    loop: closed,
    onError,
    ...results,
    secrets: [],
    ...read.fields,
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
  if (method.names.has(text)) {
    findings.add('M204', `the step name "${text}" is used twice`, `${path}.name`, entry.value.range, {
      hint: 'rename one of the two: a name is for one step in the whole file',
    });
    return undefined;
  }
  method.names.add(text);
  return text;
}

/** The declared `out`; null without one. */
function readOut(method: MethodContext, step: SourceMap, kind: GivenKind | undefined, path: string): ObjectType | null {
  const entry = usableEntry(step, kind?.key, 'out');
  const type = entry ? method.types.readFields(entry.value, `${path}.out`, 'out') : null;
  return type === null || type.fields.size === 0 ? null : type;
}

/** The scope of one round; that of the step itself when it runs once. */
function roundsOf(
  outer: MethodContext,
  step: SourceMap,
  kind: GivenKind | undefined,
  loop: GivenLoop | null,
  outType: ObjectType | null,
): MethodContext {
  if (loop === null) return outer;
  if (loop.kind === 'each') return itemScope(outer, loop.as, loop.itemType);
  return roundScope(outer, kind?.key === 'steps' ? resultShape(step) : (outType ?? NO_FIELDS));
}

/** A group's value as its own rounds know it: `last` may be read before `result` is typed. */
function resultShape(step: SourceMap): ObjectType {
  const result = step.entries.get('result')?.value;
  const names = result?.kind === 'map' ? [...result.entries.keys()] : [];
  return { kind: 'object', fields: new Map(names.map((name) => [name, UNREADABLE])) };
}

interface Condition {
  readonly expression: CompiledExpression;
  readonly facts: ReadonlySet<string>;
  readonly guards: readonly string[];
}

function readCondition(method: MethodContext, entry: SourceEntry | undefined, path: string): Condition | undefined {
  if (!entry) return undefined;
  const read = method.values.expression(entry.value, `${path}.if`, placeOf(method, 'none'), 'condition');
  if (!read) return undefined;
  const { source } = read.expression;
  return {
    expression: read.expression,
    facts: factsOf(read.tree, (node) => source.slice(node.start, node.end)).yes,
    guards: guardsOf(read.tree, source),
  };
}

/** The facts of the `if` that also hold inside: `repeat` asks it before its rounds have a `last` of their own. */
function factsInRounds(condition: Condition | undefined, loop: GivenLoop | null): string[] {
  const facts = [...(condition?.facts ?? [])];
  return loop?.kind === 'repeat' ? facts.filter((fact) => !namesLast(fact)) : facts;
}

type Base = Pick<StepBase, 'title' | 'description' | 'line' | 'onInterrupt' | 'out' | 'limits'>;

function readBase(context: StepContext, kind: GivenKind | undefined): Base {
  const { findings, step, path } = context;
  return {
    ...readWords(findings, step, path),
    line: findings.source.positionOf(step.range[0]).line,
    onInterrupt: readOnInterrupt(findings, usableEntry(step, kind?.key, 'on_interrupt'), path),
    out: context.out,
    limits: resolveStepLimits(kind?.key ?? 'steps', context.ownLimits, context.limits),
  };
}

function readOwnLimits(method: MethodContext, step: SourceMap, kind: GivenKind | undefined, path: string): GivenLimits {
  const entry = kind && usableEntry(step, kind.key, 'limits');
  return entry ? readStepLimits(method.findings, entry.value, kind.key, `${path}.limits`) : {};
}

function scopeOf({ finished, roots }: MethodContext): Pick<MethodContext, 'finished' | 'roots'> {
  return { finished, roots };
}

/** The conditions around a step's action: checks before and after, and the condition of another try. */
function readResults(
  context: StepContext,
  after: MethodContext,
  kind: GivenKind | undefined,
  value: ObjectType,
): Pick<StepBase, 'require' | 'ensure' | 'retry'> {
  const { step, path } = context;
  const [require, ensure, retry] = ['require', 'ensure', 'retry'].map((key) => usableEntry(step, kind?.key, key));
  const judged = () => new Map<string, Root>([['out', outRoot(value)], ...(kind?.key === 'http' ? RESPONSE : [])]);
  return {
    require: require ? readChecks(context, require, `${path}.require`, placeOf(context, 'none')) : [],
    ensure: ensure ? readChecks(context, ensure, `${path}.ensure`, placeOf(after, 'none', judged())) : [],
    retry: retry ? readRetry(context, retry, `${path}.retry`, placeOf(context, 'none', ERROR_ROOT)) : null,
  };
}

function outRoot(value: ObjectType): Root {
  return { type: value, read: (frame) => frame.scope.out ?? null };
}

function closeLoop(context: StepContext, loop: GivenLoop, value: ObjectType): EachLoop | RepeatLoop {
  if (loop.kind === 'each') {
    const { kind, items, as, atOnce } = loop;
    return { kind, items, as, atOnce };
  }
  const { kind, roundsMax, delayMs } = loop;
  return { kind, until: readUntil(context, loop, value), roundsMax, delayMs };
}

// The compiled form of a declared `out`.

/** `declared`: the place of the `out`. */
function outFields(
  context: Pick<MethodContext, 'schemas' | 'findings'>,
  type: ObjectType,
  declared: Declared,
): OutFields {
  const schema = writtenSchema(context, type, declared);
  let check: CheckValue | undefined;
  return {
    names: [...type.fields.keys()],
    schema,
    hasSecret: contains(type, 'secret'),
    hasFile: contains(type, 'file'),
    check: (value, effort) => {
      // Compiling takes milliseconds, and most processes that hold a method never check this out.
      check ??= compileCheck(schema);
      return check(value, effort);
    },
  };
}
