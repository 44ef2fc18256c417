// Owns which steps can be read where, and whether they are surely there: the rules of skipped steps, rounds and branches.
import type { Root } from '../../expression/compile-expression.ts';
import type { Expr } from '../../expression/expression-tree.ts';
import { conjunctsOf, truth } from '../../expression/narrowing.ts';
import { ownField } from '../../json.ts';
import { ANY, type Field, listOf, orNull, type Type } from '../../types/type.ts';
import type { MethodContext } from '../step-context.ts';

/** The conditions under which a step has a value once the walk has passed it. */
export interface Presence {
  /** The conditions of its `if`, as facts: known true together, the step was not skipped. Null without `if`. */
  readonly guards: readonly string[] | null;
  readonly onError: 'fail' | 'continue';
  readonly loop: 'each' | 'repeat' | null;
}

/** The conditions of an `if` as the facts that repeat them. */
export function guardsOf(tree: Expr, source: string): string[] {
  return conjunctsOf(tree).map((part) => truth(source.slice(part.start, part.end)));
}

/** `roots` with `steps` typed by `finished`. */
export function withSteps(roots: ReadonlyMap<string, Root>, finished: ReadonlyMap<string, Field>): Map<string, Root> {
  const steps: Root = {
    type: { kind: 'object', fields: finished, growing: true },
    read: (frame) => frame.scope.steps,
  };
  return new Map([...roots, ['steps', steps]]);
}

/** The scope of an inner list: it reads what is finished around it, and what it finishes stays its own until published. */
export function innerScope(context: MethodContext): MethodContext {
  const finished = new Map(context.finished);
  return { ...context, finished, roots: withSteps(context.roots, finished), level: context.level + 1 };
}

/** The scope of one round of `each`: the item under its name. */
export function itemScope(context: MethodContext, as: string, type: Type): MethodContext {
  const item: Root = { type, read: (frame) => ownField(frame.scope.items ?? {}, as) ?? null };
  return { ...context, roots: new Map([...context.roots, [as, item]]) };
}

/** The scope of one round of `repeat`: `last` is the value of the round before. */
export function roundScope(context: MethodContext, value: Type): MethodContext {
  const last: Root = { type: orNull(value), read: (frame) => frame.scope.last ?? null };
  const roots = new Map([...context.roots, ['last', last] as const]);
  if (!context.roots.has('last')) return { ...context, roots };
  // The `last` of the rounds around is another one: facts about it do not apply in here.
  const facts = new Set([...context.facts].filter((fact) => !namesLast(fact)));
  const finished = new Map(
    Array.from(context.finished, ([name, field]) => [name, field.guards?.some(namesLast) ? unsure(field) : field]),
  );
  return { ...context, facts, finished, roots: withSteps(roots, finished) };
}

/** True for a fact about `last`, which is another value in each nest of rounds. */
export function namesLast(fact: string): boolean {
  return /(?<![\w.])last\b/.test(fact);
}

function unsure(field: Field): Field {
  const { guards: _, ...rest } = field;
  return { ...rest, optional: true };
}

/** The field of `steps` for a finished step; `value` is that of one round. */
export function finishedField(value: Type, { guards, onError, loop }: Presence): Field {
  const fails = onError === 'continue';
  if (loop === 'each') return { type: listOf(fails || guards !== null ? orNull(value) : value), optional: false };
  const type = loop === 'repeat' ? listOf(fails ? orNull(value) : value) : value;
  // A failure that is passed over leaves nothing to read, for any conditions.
  if (fails && loop === null) return { type, optional: true };
  return guards === null ? { type, optional: false } : { type, optional: true, guards };
}

/** The value of a step that could not be read: nothing that reads it must become an error too. */
export const UNREADABLE: Field = { type: ANY, optional: false };

/** Lets the steps after a plain group or parallel read the steps inside. */
export function publish(inner: MethodContext, outer: MethodContext, presence: Presence): void {
  for (const [name, field] of inner.finished) {
    if (!outer.finished.has(name)) outer.finished.set(name, outside(field, presence));
  }
}

function outside(field: Field, { guards, onError }: Presence): Field {
  if (onError === 'continue') return unsure(field);
  if (guards === null) return field;
  if (!field.optional) return { ...field, optional: true, guards };
  return field.guards === undefined ? field : { ...field, guards: [...field.guards, ...guards] };
}

/** Keeps the steps inside `inner` from being read in `outer`, with the reason. */
export function hide(inner: MethodContext, outer: MethodContext, reason: string): void {
  for (const name of inner.finished.keys()) if (!outer.finished.has(name)) outer.hidden.set(name, reason);
}

/** The scope of `on_failure` and `finally`: any step before may not have run. */
export function afterScope(context: MethodContext): MethodContext {
  const finished = new Map(Array.from(context.finished, ([name, field]) => [name, unsure(field)]));
  return { ...context, finished, roots: withSteps(context.roots, finished) };
}
