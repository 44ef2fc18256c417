// Owns narrowing: what is known once a condition is true, or false.
import type { Expr } from './expression-tree.ts';

export interface Facts {
  readonly yes: ReadonlySet<string>;
  readonly no: ReadonlySet<string>;
}

type TextOf = (expr: Expr) => string;

/** The dotted path of a name and its fields or constant indexes; undefined for anything computed. */
export function pathOf(expr: Expr): string | undefined {
  if (expr.kind === 'name') return expr.name;
  if (expr.kind === 'chain') return pathOf(expr.value);
  if (expr.kind === 'member') {
    const object = pathOf(expr.object);
    return object === undefined ? undefined : `${object}.${expr.name}`;
  }
  if (expr.kind === 'index' && expr.index.kind === 'literal') {
    const object = pathOf(expr.object);
    return object === undefined ? undefined : `${object}.${String(expr.index.value)}`;
  }
  return undefined;
}

/** The key of the fact "this path is not null". */
export function presence(path: string): string {
  return `present ${path}`;
}

/** The key of the fact "this condition is true": its text without spaces outside quotes. */
export function truth(text: string): string {
  return `true ${text.replace(/("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)|\s+/g, '$1')}`;
}

/** The conditions a condition is made of: the operands of its outermost `&&`. */
export function conjunctsOf(expr: Expr): readonly Expr[] {
  return expr.kind === 'and' ? expr.operands.flatMap(conjunctsOf) : [expr];
}

/** What holds when `expr` is true (`yes`) and when it is false (`no`). */
export function factsOf(expr: Expr, textOf: TextOf): Facts {
  const own = truth(textOf(expr));
  const { yes, no } = innerFacts(expr, textOf);
  return { yes: new Set([...yes, own]), no };
}

function innerFacts(expr: Expr, textOf: TextOf): Facts {
  switch (expr.kind) {
    case 'and': {
      const facts = expr.operands.map((operand) => factsOf(operand, textOf));
      return { yes: union(facts.map((fact) => fact.yes)), no: common(facts.map((fact) => fact.no)) };
    }
    case 'or': {
      const facts = expr.operands.map((operand) => factsOf(operand, textOf));
      return { yes: common(facts.map((fact) => fact.yes)), no: union(facts.map((fact) => fact.no)) };
    }
    case 'not': {
      const facts = factsOf(expr.value, textOf);
      return { yes: facts.no, no: facts.yes };
    }
    case 'equality': {
      const other = isNull(expr.right) ? expr.left : isNull(expr.left) ? expr.right : undefined;
      if (other) return expr.negated ? { yes: present(other), no: NONE } : { yes: NONE, no: present(other) };
      // Equal to a literal that is not null: the other side is present.
      const known = new Set([...presentBeside(expr.right, expr.left), ...presentBeside(expr.left, expr.right)]);
      return expr.negated ? { yes: NONE, no: known } : { yes: known, no: NONE };
    }
    default:
      return { yes: NONE, no: NONE };
  }
}

const NONE: ReadonlySet<string> = new Set();

export function isNull(expr: Expr): boolean {
  return expr.kind === 'literal' && expr.value === null;
}

/** The path and every path it goes through. */
function present(expr: Expr): ReadonlySet<string> {
  const path = pathOf(expr);
  if (path === undefined) return NONE;
  const parts = path.split('.');
  return new Set(parts.map((_, index) => presence(parts.slice(0, index + 1).join('.'))));
}

function presentBeside(literal: Expr, other: Expr): ReadonlySet<string> {
  return literal.kind === 'literal' && literal.value !== null ? present(other) : NONE;
}

function union(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return new Set(sets.flatMap((set) => [...set]));
}

function common(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  const [first, ...rest] = sets;
  return new Set([...(first ?? [])].filter((fact) => rest.every((set) => set.has(fact))));
}
