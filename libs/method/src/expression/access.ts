// Owns reading fields and items: `a.b`, `a?.b`, `a[i]`, `.length`. Own fields only; absent is null.
import type { Evaluator } from '../compiled-value.ts';
import { isJsonList, isJsonObject, ownField } from '../json.ts';
import { hintNearest } from '../source/did-you-mean.ts';
import {
  ANY,
  INTEGER,
  isNullable,
  isNumber,
  isText,
  isUnknown,
  membersOf,
  orNull,
  STRING,
  shortType,
  type Type,
  unionOf,
  withoutNull,
} from '../types/type.ts';
import type { Compiled, Compiler, Env } from './compiler-context.ts';
import { type Expr, ExpressionProblem, type ExprOf } from './expression-tree.ts';
import { pathOf } from './narrowing.ts';
import { ExpressionError, expectNumber, expectText, kindOf } from './runtime.ts';

/** The object of an access, null taken away where `?.` allows it. */
export interface Receiver extends Compiled {
  readonly stops: boolean;
  /** The author's text of the object, for errors of a run. */
  readonly place: string;
}

/** Compiles the expression to the left of `.`, `?.` or `[`. */
export function compileReceiver(compiler: Compiler, object: Expr, optional: boolean, env: Env): Receiver {
  const compiled = compiler.compile(object, env);
  // `?.` on what is surely there stops nothing.
  const mayStop = optional && (isNullable(compiled.type) || isUnknown(compiled.type));
  const stops = mayStop || compiled.stops === true;
  const type = optional ? withoutNull(compiled.type) : compiler.present(object, compiled);
  return { type, run: compiled.run, stops, place: compiler.textOf(object) };
}

/** The result of an access to null: null when the chain has stopped, else an error. */
export function accessOfNull(receiver: Receiver): null {
  if (receiver.stops) return null;
  throw new ExpressionError(`${receiver.place} is null`);
}

export function compileMember(compiler: Compiler, expr: ExprOf<'member'>, env: Env): Compiled {
  const receiver = compileReceiver(compiler, expr.object, expr.optional, env);
  const types = membersOf(receiver.type).map((member) => fieldType(compiler, expr, member, env));
  const run = fieldOf(receiver, expr.name);
  const ofFile = expr.name === 'name' && membersOf(receiver.type).some((member) => member.kind === 'file');
  return { type: unionOf(types), stops: receiver.stops, run: ofFile ? fileName(receiver, run) : run };
}

/** Files that steps made have no name of their own: it is the last part of their path. */
function fileName(receiver: Receiver, own: Evaluator): Evaluator {
  return (frame) => {
    const name = own(frame);
    if (name !== null) return name;
    const file = receiver.run(frame);
    const path = isJsonObject(file) ? ownField(file, 'path') : undefined;
    return typeof path === 'string' ? path.slice(path.lastIndexOf('/') + 1) : null;
  };
}

function fieldOf(receiver: Receiver, name: string): Evaluator {
  const { run, place } = receiver;
  return (frame) => {
    const value = run(frame);
    if (isJsonObject(value)) return ownField(value, name) ?? null;
    if (value === null) return accessOfNull(receiver);
    if (name === 'length' && (typeof value === 'string' || isJsonList(value))) return value.length;
    throw new ExpressionError(`${place} is ${kindOf(value)} and has no fields`);
  };
}

type Member = ReturnType<typeof membersOf>[number];

function fieldType(compiler: Compiler, expr: ExprOf<'member'>, member: Member, env: Env): Type {
  const { name } = expr;
  const place = { start: expr.nameStart, end: expr.end };
  const owner = compiler.textOf(expr.object);
  switch (member.kind) {
    case 'any':
    case 'raw':
    case 'open':
      return ANY;
    case 'map':
      return orNull(member.of);
    case 'file':
      if (name === 'bytes') return INTEGER;
      if (name === 'path' || name === 'sha256' || name === 'name') return STRING;
      if (name === 'media_type') return orNull(STRING);
      throw new ExpressionProblem(
        'M403',
        `a file has no field "${name.slice(0, 40)}"`,
        place,
        'it has: name, path, bytes, sha256, media_type',
      );
    case 'object': {
      const field = member.fields.get(name);
      if (!field) throw unknownField(expr, member.fields.keys(), owner, place);
      const isThere = !field.optional || field.guards?.every((guard) => env.facts.has(guard)) === true;
      return isThere ? field.type : orNull(field.type);
    }
    case 'secret':
      throw new ExpressionProblem('M606', `${owner} is a secret and cannot be looked into`, expr);
    default: {
      if (name === 'length' && (member.kind === 'list' || isText(member))) return INTEGER;
      if (member.kind === 'list')
        throw new ExpressionProblem(
          'M403',
          `a list has no field "${name.slice(0, 40)}"`,
          place,
          'it has length and methods such as find(x => …)',
        );
      throw new ExpressionProblem(
        'M406',
        `${owner} is ${shortType(member)} and has no field "${name.slice(0, 40)}"`,
        place,
      );
    }
  }
}

function unknownField(
  expr: ExprOf<'member'>,
  known: Iterable<string>,
  owner: string,
  place: { start: number; end: number },
): ExpressionProblem {
  const shown = expr.name.slice(0, 40);
  const path = pathOf(expr.object);
  const hint = hintNearest(expr.name, known, 'it has');
  if (path === 'steps') return new ExpressionProblem('M201', `no finished step "${shown}" at this point`, place, hint);
  if (path === 'inputs') return new ExpressionProblem('M202', `no input "${shown}"`, place, hint);
  return new ExpressionProblem('M403', `${owner} has no field "${shown}"`, place, hint);
}

export function compileIndex(compiler: Compiler, expr: ExprOf<'index'>, env: Env): Compiled {
  const receiver = compileReceiver(compiler, expr.object, expr.optional, env);
  const index = compiler.operand(expr.index, env);
  const owner = compiler.textOf(expr.object);
  const types = membersOf(receiver.type).map((member): Type => {
    if (member.kind === 'any' || member.kind === 'raw') return ANY;
    if (member.kind === 'list') {
      if (!isNumber(index.type)) throw new ExpressionProblem('M406', 'the index of a list is a number', expr.index);
      return orNull(member.of);
    }
    if (!isText(index.type))
      throw new ExpressionProblem('M406', `${owner} cannot be indexed with ${shortType(index.type)}`, expr.index);
    if (member.kind === 'map') return orNull(member.of);
    if (member.kind === 'open') return ANY;
    if (member.kind === 'object') return orNull(unionOf(Array.from(member.fields.values(), (field) => field.type)));
    if (member.kind === 'file') return orNull(unionOf([STRING, INTEGER]));
    throw new ExpressionProblem('M406', `${owner} is ${shortType(member)} and cannot be indexed`, expr);
  });
  const indexPlace = compiler.textOf(expr.index);
  return {
    type: unionOf(types),
    stops: receiver.stops,
    run: (frame) => {
      const value = receiver.run(frame);
      if (value === null) return accessOfNull(receiver);
      const key = index.run(frame);
      if (isJsonList(value)) return value[expectNumber(key, indexPlace)] ?? null;
      if (isJsonObject(value)) return ownField(value, expectText(key, indexPlace)) ?? null;
      throw new ExpressionError(`${owner} is ${kindOf(value)} and cannot be indexed`);
    },
  };
}

/** True for a type whose every value is an unknown or a list; `of` is then the element type. */
export function elementType(type: Type): Type | undefined {
  if (isUnknown(type)) return ANY;
  const members = membersOf(type);
  return members.every((member) => member.kind === 'list')
    ? unionOf(members.map((member) => (member.kind === 'list' ? member.of : ANY)))
    : undefined;
}
