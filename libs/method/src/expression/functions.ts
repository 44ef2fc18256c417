// Owns the functions of expressions: round floor ceil abs sum min max unique sort keys values json text number timestamp.
import { DistinctValues } from '../check/distinct-values.ts';
import type { Frame } from '../compiled-value.ts';
import { isJsonObject, type JsonValue } from '../json.ts';
import { hintNearest } from '../source/did-you-mean.ts';
import { comparable, holdsTimes, timestampOf } from '../types/instants.ts';
import {
  ANY,
  INTEGER,
  isNumber,
  isText,
  listOf,
  membersOf,
  NUMBER,
  orNull,
  STRING,
  shortType,
  type Type,
  unionOf,
} from '../types/type.ts';
import { elementType } from './access.ts';
import type { Compiled, Compiler, Env } from './compiler-context.ts';
import { type Expr, ExpressionProblem, type ExprOf } from './expression-tree.ts';
import { isWhole } from './operators.ts';
import { roundDecimal } from './round-decimal.ts';
import {
  charge,
  chargeComparison,
  chargeParts,
  chargeText,
  ExpressionError,
  expectList,
  expectNumber,
  expectText,
  finite,
  kindOf,
  scalarText,
} from './runtime.ts';

type Build = (call: Call) => Compiled;

/** One call under compilation, with the checks its parts need. */
class Call {
  readonly compiler: Compiler;
  readonly expr: ExprOf<'call'>;
  readonly env: Env;

  constructor(compiler: Compiler, expr: ExprOf<'call'>, env: Env) {
    this.compiler = compiler;
    this.expr = expr;
    this.env = env;
  }

  argument(index: number): Expr {
    return this.expr.args[index] ?? this.expr;
  }

  place(index: number): string {
    return this.compiler.textOf(this.argument(index));
  }

  operand(index: number): Compiled {
    return this.compiler.operand(this.argument(index), this.env);
  }

  number(index: number): Compiled {
    const value = this.operand(index);
    return isNumber(value.type) ? value : this.refuse(index, 'a number', value.type);
  }

  /** A list argument and its element type. */
  list(index: number): { value: Compiled; of: Type } {
    const value = this.operand(index);
    const of = elementType(value.type);
    return of === undefined ? this.refuse(index, 'a list', value.type) : { value, of };
  }

  refuse(index: number, wanted: string, type: Type): never {
    const message = `${this.expr.name} needs ${wanted}, not ${shortType(type)}`;
    throw new ExpressionProblem('M406', message, this.argument(index));
  }
}

/** Name to the numbers of arguments it takes, and its builder. */
export const FUNCTIONS: ReadonlyMap<string, readonly [least: number, most: number, build: Build]> = new Map<
  string,
  readonly [number, number, Build]
>([
  ['round', [1, 2, round]],
  ['floor', [1, 1, (call) => whole(call, Math.floor)]],
  ['ceil', [1, 1, (call) => whole(call, Math.ceil)]],
  ['abs', [1, 1, abs]],
  ['sum', [1, 1, sum]],
  ['min', [1, 20, (call) => extreme(call, Math.min)]],
  ['max', [1, 20, (call) => extreme(call, Math.max)]],
  ['unique', [1, 1, unique]],
  ['sort', [1, 2, sort]],
  ['keys', [1, 1, (call) => parts(call, 'keys')]],
  ['values', [1, 1, (call) => parts(call, 'values')]],
  ['json', [1, 1, json]],
  ['text', [1, 1, text]],
  ['number', [1, 1, number]],
  ['timestamp', [1, 1, timestamp]],
]);

export function compileCall(compiler: Compiler, expr: ExprOf<'call'>, env: Env): Compiled {
  const known = FUNCTIONS.get(expr.name);
  const place = { start: expr.nameStart, end: expr.nameStart + expr.name.length };
  if (!known) {
    throw new ExpressionProblem(
      'M403',
      `unknown function "${expr.name.slice(0, 40)}"`,
      place,
      hintNearest(expr.name, FUNCTIONS.keys(), 'functions'),
    );
  }
  const [least, most, build] = known;
  if (expr.args.length < least || expr.args.length > most) {
    throw new ExpressionProblem(
      'M406',
      `${expr.name} takes ${least === most ? least : `${least} to ${most}`} values`,
      expr,
    );
  }
  return build(new Call(compiler, expr, env));
}

function round(call: Call): Compiled {
  const value = call.number(0);
  const place = call.place(0);
  if (call.expr.args.length === 1)
    return { type: INTEGER, run: (frame) => roundDecimal(expectNumber(value.run(frame), place), 0) };
  const digits = call.number(1);
  const digitsPlace = call.place(1);
  return {
    type: NUMBER,
    run: (frame) => {
      const wanted = expectNumber(digits.run(frame), digitsPlace);
      if (!Number.isInteger(wanted) || wanted < 0 || wanted > 15)
        throw new ExpressionError('round takes 0 to 15 digits');
      charge(frame, DECIMAL_STEPS);
      return roundDecimal(expectNumber(value.run(frame), place), wanted);
    },
  };
}

/** The price of turning a number into text and back. */
const DECIMAL_STEPS = 4;

function whole(call: Call, apply: (value: number) => number): Compiled {
  const value = call.number(0);
  const place = call.place(0);
  return { type: INTEGER, run: (frame) => apply(expectNumber(value.run(frame), place)) };
}

function abs(call: Call): Compiled {
  const value = call.number(0);
  const place = call.place(0);
  return {
    type: isWhole(value.type) ? INTEGER : NUMBER,
    run: (frame) => Math.abs(expectNumber(value.run(frame), place)),
  };
}

function sum(call: Call): Compiled {
  const { value, of } = call.list(0);
  if (!isNumber(of)) call.refuse(0, 'a list of numbers', value.type);
  const place = call.place(0);
  return {
    type: isWhole(of) ? INTEGER : NUMBER,
    run: (frame) => numbersOf(frame, value, place).reduce((total, item) => finite(total + item, place), 0),
  };
}

function numbersOf(frame: Frame, list: Compiled, place: string): readonly number[] {
  const items = expectList(list.run(frame), place);
  charge(frame, items.length);
  return items.map((item) => expectNumber(item, `an item of ${place}`));
}

function extreme(call: Call, pick: (a: number, b: number) => number): Compiled {
  const place = call.place(0);
  if (call.expr.args.length === 1) {
    const { value, of } = call.list(0);
    if (!isNumber(of)) call.refuse(0, 'a list of numbers', value.type);
    return {
      // The smallest of nothing is null.
      type: orNull(isWhole(of) ? INTEGER : NUMBER),
      run: (frame) => {
        const items = numbersOf(frame, value, place);
        return items.length === 0 ? null : items.reduce((a, b) => pick(a, b));
      },
    };
  }
  const values = call.expr.args.map((_, index) => call.number(index));
  return {
    type: values.every(({ type }) => isWhole(type)) ? INTEGER : NUMBER,
    run: (frame) =>
      values.map(({ run }, index) => expectNumber(run(frame), call.place(index))).reduce((a, b) => pick(a, b)),
  };
}

function unique(call: Call): Compiled {
  const { value, of } = call.list(0);
  const place = call.place(0);
  const areTimes = holdsTimes(of);
  return {
    type: listOf(of),
    run: (frame) => {
      const seen = new DistinctValues();
      const payer = { charge: (steps: number) => charge(frame, steps / CHECK_STEPS_A_STEP) };
      const list = expectList(value.run(frame), place);
      if (!areTimes) return list.filter((item) => seen.add(item, payer));
      chargeParts(frame, list);
      return list.filter((item) => seen.add(comparable(item, [of]), payer));
    },
  };
}

// Work on values is counted in smaller steps than that of expressions.
const CHECK_STEPS_A_STEP = 4;

function sort(call: Call): Compiled {
  const { value, of } = call.list(0);
  const place = call.place(0);
  const arrow =
    call.expr.args.length === 2 ? call.compiler.arrow(call.argument(1), of, call.env, call.expr) : undefined;
  const key = arrow?.type ?? of;
  if (!isNumber(key) && !isText(key)) call.refuse(arrow ? 1 : 0, 'numbers or texts to sort by', key);
  const areTimes = holdsTimes(key);
  return {
    type: listOf(of),
    run: (frame) => {
      const items = expectList(value.run(frame), place);
      charge(frame, items.length);
      const keyed = items.map((item, index) => ({ item, key: arrow ? arrow.run(frame, item, index) : item }));
      const kind = typeof keyed[0]?.key;
      for (const entry of keyed) {
        if (typeof entry.key !== kind || (kind !== 'number' && kind !== 'string')) {
          throw new ExpressionError(`sort needs all numbers or all texts to sort by, not ${kindOf(entry.key)}`);
        }
        for (let level = items.length; level > 1; level /= 2) chargeComparison(frame, entry.key, entry.key);
      }
      if (areTimes) for (const entry of keyed) entry.key = comparable(entry.key, [key]);
      return keyed.sort((a, b) => compareKeys(a.key, b.key)).map((entry) => entry.item);
    },
  };
}

function compareKeys(a: JsonValue, b: JsonValue): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : a > b ? 1 : 0;
  return 0;
}

function parts(call: Call, which: 'keys' | 'values'): Compiled {
  const value = call.operand(0);
  const types = membersOf(value.type).map((member): Type => {
    if (member.kind === 'any' || member.kind === 'raw' || member.kind === 'open') return ANY;
    if (member.kind === 'map') return member.of;
    if (member.kind !== 'object') return call.refuse(0, 'an object or a map', value.type);
    return unionOf(Array.from(member.fields.values(), (field) => field.type));
  });
  const place = call.place(0);
  return {
    type: listOf(which === 'keys' ? STRING : unionOf(types)),
    run: (frame) => {
      const object = value.run(frame);
      if (!isJsonObject(object)) throw new ExpressionError(`${place} is ${kindOf(object)}, not an object`);
      const names = Object.keys(object);
      charge(frame, names.length);
      return which === 'keys' ? names : names.map((name) => object[name] ?? null);
    },
  };
}

function json(call: Call): Compiled {
  const argument = call.argument(0);
  const value = call.compiler.compile(argument, call.env);
  call.compiler.refuseSecret(argument, value.type);
  return {
    type: STRING,
    run: (frame) => {
      const given = value.run(frame);
      chargeParts(frame, given);
      const written = JSON.stringify(given);
      chargeText(frame, written.length);
      return written;
    },
  };
}

function text(call: Call): Compiled {
  const value = call.operand(0);
  const place = call.place(0);
  const bad = membersOf(value.type).find((member) => ['list', 'map', 'object', 'open', 'file'].includes(member.kind));
  if (bad)
    throw new ExpressionProblem(
      'M407',
      `${place} is ${shortType(bad)}, which has no text form`,
      call.argument(0),
      `write  json(${place})`,
    );
  return { type: STRING, run: (frame) => scalarText(value.run(frame), place) };
}

function number(call: Call): Compiled {
  const value = call.operand(0);
  const place = call.place(0);
  if (!isText(value.type) && !isNumber(value.type)) call.refuse(0, 'text', value.type);
  return {
    type: NUMBER,
    run: (frame) => {
      const given = value.run(frame);
      if (typeof given === 'number') return given;
      const text = expectText(given, place);
      chargeText(frame, text.length);
      const trimmed = text.trim();
      if (trimmed.length > 400 || !/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(trimmed))
        throw new ExpressionError(`${place} is not a number in text`);
      return finite(Number(trimmed), place);
    },
  };
}

const TIMESTAMP_STEPS = 6;

function timestamp(call: Call): Compiled {
  const value = call.operand(0);
  const place = call.place(0);
  if (!isText(value.type)) call.refuse(0, 'a date or a datetime', value.type);
  return {
    type: INTEGER,
    run: (frame) => {
      const given = expectText(value.run(frame), place);
      charge(frame, TIMESTAMP_STEPS);
      // Only forms with a fixed meaning: a datetime without an offset would depend on the machine's time zone.
      const milliseconds = timestampOf(given);
      if (milliseconds === null) throw new ExpressionError(`${place} is not a date or a datetime with an offset`);
      return milliseconds;
    },
  };
}
