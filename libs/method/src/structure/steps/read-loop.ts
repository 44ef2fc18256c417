// Owns `each` and `repeat`: what they go over, under which name, how often and how many at once.
import type { EachLoop, RepeatLoop, StepKind } from '../../compiled-method.ts';
import type { CompiledExpression } from '../../compiled-value.ts';
import { elementType } from '../../expression/access.ts';
import type { Root } from '../../expression/compile-expression.ts';
import { type Expr, ExpressionProblem } from '../../expression/expression-tree.ts';
import { conjunctsOf, factsOf } from '../../expression/narrowing.ts';
import { parseExpression } from '../../expression/parse-expression.ts';
import { isVariableName } from '../../source/names.ts';
import type { SourceEntry, SourceMap } from '../../source/source-node.ts';
import { ANY, isNullable, membersOf, type ObjectType, shortType, type Type } from '../../types/type.ts';
import { checkKeys } from '../check-keys.ts';
import { REPEAT_KEYS } from '../keys.ts';
import { readCount, readDuration } from '../read-amount.ts';
import { type MethodContext, placeOf, type StepContext } from '../step-context.ts';
import { usableEntry } from './step-kind.ts';

const AT_ONCE_MAX = 50;
const ROUNDS_MAX = 1_000;
const DAY_MS = 86_400_000;
const DEFAULT_ITEM = 'item';
// Names the language gives a meaning of its own somewhere inside a step.
const TAKEN = ['last', 'out', 'response', 'error', 'failure'];

/** A loop whose head is read; `until` needs the value of a round, which is known later. */
export type GivenLoop =
  | (EachLoop & { readonly itemType: Type })
  | (Pick<RepeatLoop, 'kind' | 'roundsMax' | 'delayMs'> & { readonly until: SourceEntry | undefined });

/** Replaces an expression that could not be read; the finding keeps the method from being used. */
const UNREAD: CompiledExpression = { kind: 'expression', source: '', paths: [], size: 0, run: () => null };

export function readLoop(
  method: MethodContext,
  step: SourceMap,
  kind: StepKind | undefined,
  path: string,
): GivenLoop | null {
  const { findings } = method;
  const each = step.entries.get('each');
  const repeat = usableEntry(step, kind, 'repeat');
  if (each && repeat)
    findings.add('M503', 'one step cannot have each and repeat', `${path}.repeat`, repeat.keyRange, {
      hint: 'put one of them on a group around it:  steps: [...]',
    });
  if (!each) {
    for (const key of ['as', 'at_once']) {
      const entry = step.entries.get(key);
      if (entry)
        findings.add('M111', `"${key}" has no meaning without each`, `${path}.${key}`, entry.keyRange, {
          hint: 'remove it',
        });
    }
  }
  if (each) return readEach(method, step, each, path);
  return repeat ? readRepeat(method, repeat, `${path}.repeat`) : null;
}

function readEach(method: MethodContext, step: SourceMap, entry: SourceEntry, path: string): GivenLoop {
  const { findings, values } = method;
  const at = `${path}.each`;
  const as = readItemName(method, step, entry, path);
  let itemType = ANY;
  let items = UNREAD;
  if (entry.value.kind !== 'scalar') {
    findings.add('M501', 'each is an expression that gives a list', at, entry.value.range, {
      hint: 'for example  each: inputs.ids , or  each: "[1, 2, 3]"  in quotes',
    });
  } else {
    const place = placeOf(method, 'values');
    const facts = new Set([...place.facts, ...earlyFacts(step.entries.get('if'), as)]);
    const read = values.expression(entry.value, at, { ...place, facts });
    if (read) {
      items = read.expression;
      itemType = readElement(method, read.type, entry, at, read.expression.source);
    }
  }
  const atOnce = readCount(findings, step.entries.get('at_once'), `${path}.at_once`, 'at_once', [1, AT_ONCE_MAX]) ?? 1;
  return { kind: 'each', items, itemType, as, atOnce };
}

function readElement(method: MethodContext, type: Type, entry: SourceEntry, at: string, source: string): Type {
  const { findings } = method;
  const text = source.trim().slice(0, 80);
  if (isNullable(type)) {
    findings.add('M405', `${text} may be absent here`, at, entry.value.range, { hint: `write  ${text} ?? []` });
    return ANY;
  }
  const element = elementType(type);
  if (element !== undefined) return element;
  const isMap = membersOf(type).every((member) => ['map', 'object', 'open'].includes(member.kind));
  findings.add('M501', `each needs a list; ${text} is ${shortType(type)}`, at, entry.value.range, {
    hint: isMap ? `write  each: values(${text})` : 'give a list such as  steps.pages.items',
  });
  return ANY;
}

function readItemName(method: MethodContext, step: SourceMap, each: SourceEntry, path: string): string {
  const { findings, roots } = method;
  const entry = step.entries.get('as');
  const name = entry === undefined ? DEFAULT_ITEM : entry.value.kind === 'scalar' ? entry.value.text : '';
  const range = entry?.value.range ?? each.keyRange;
  if (!isVariableName(name) || TAKEN.includes(name)) {
    findings.add('M203', `"${name.slice(0, 40)}" cannot be the name of an item`, `${path}.as`, range, {
      hint: 'small letters, digits and _, such as contact',
    });
    return DEFAULT_ITEM;
  }
  if (roots.has(name)) {
    findings.add('M204', `"${name}" is already the item of an outer each`, `${path}.${entry ? 'as' : 'each'}`, range, {
      hint: entry ? 'choose another name' : 'name this one with  as: …',
    });
  }
  return name;
}

function readRepeat(method: MethodContext, entry: SourceEntry, path: string): GivenLoop {
  const { findings } = method;
  const node = entry.value;
  const none = { kind: 'repeat', until: undefined, roundsMax: 1, delayMs: 0 } as const;
  if (node.kind !== 'map') {
    findings.add('M502', 'repeat is a mapping with until and max', path, entry.keyRange, {
      hint: 'for example  repeat: { until: out.done, max: 20 }',
    });
    return none;
  }
  checkKeys(findings, node, REPEAT_KEYS, path);
  const until = node.entries.get('until');
  if (!until)
    findings.add('M102', 'repeat needs until', path, entry.keyRange, { hint: 'for example  until: out.next == null' });
  const max = node.entries.get('max');
  if (!max)
    findings.add('M502', 'repeat needs max', path, entry.keyRange, { hint: `add  max: 100  (1 to ${ROUNDS_MAX})` });
  return {
    kind: 'repeat',
    until,
    roundsMax: readCount(findings, max, `${path}.max`, 'max', [1, ROUNDS_MAX]) ?? 1,
    delayMs: readDuration(findings, node.entries.get('delay'), `${path}.delay`, [0, DAY_MS])?.ms ?? 0,
  };
}

/** `until`, once the value of a round is known: it sees `out` and `last`. A round that failed is not asked. */
export function readUntil(
  context: StepContext,
  loop: GivenLoop & { kind: 'repeat' },
  value: ObjectType,
): CompiledExpression {
  if (!loop.until) return UNREAD;
  const out: Root = { type: value, read: (frame) => frame.scope.out ?? null };
  const place = placeOf(context, 'none', new Map([['out', out]]));
  const read = context.values.expression(loop.until.value, `${context.path}.repeat.until`, place, 'condition');
  return read?.expression ?? UNREAD;
}

// What the `if` of a step with `each` shows before there is an item: enough to have the list only where it is needed.

/**
 * The facts of the conditions before the first one about the item. Where one of them is false the step is skipped
 * without its list, so the list may count on them.
 */
function earlyFacts(entry: SourceEntry | undefined, item: string): Set<string> {
  const facts = new Set<string>();
  if (entry?.value.kind !== 'scalar') return facts;
  const source = entry.value.text.replace(/^=(?!=)/, '');
  for (const part of conjunctsIn(source)) {
    const text = source.slice(part.start, part.end);
    if (text.match(/[A-Za-z_]\w*/g)?.includes(item)) break;
    for (const fact of factsOf(part, (node) => source.slice(node.start, node.end)).yes) facts.add(fact);
  }
  return facts;
}

function conjunctsIn(source: string): readonly Expr[] {
  try {
    return conjunctsOf(parseExpression(source));
  } catch (error) {
    // Reported where the condition itself is read.
    if (error instanceof ExpressionProblem) return [];
    throw error;
  }
}
