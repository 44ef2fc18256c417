// Owns the methods of lists: filter map flatMap find some every includes indexOf join slice concat flat.
import type { Frame } from '../compiled-value.ts';
import { isJsonList, type JsonValue } from '../json.ts';
import { overlap } from '../types/fits.ts';
import { comparable, holdsTimes } from '../types/instants.ts';
import {
  ANY,
  BOOLEAN,
  INTEGER,
  listOf,
  membersOf,
  orNull,
  STRING,
  shortType,
  type Type,
  unionOf,
} from '../types/type.ts';
import { elementType } from './access.ts';
import { ExpressionProblem } from './expression-tree.ts';
import type { CompiledMethodCall, MethodCall } from './method-call.ts';
import {
  charge,
  chargeParts,
  chargeText,
  equal,
  expectBoolean,
  expectList,
  expectNumber,
  expectText,
  scalarText,
} from './runtime.ts';

type ListMethod = (call: MethodCall) => CompiledMethodCall<readonly JsonValue[]>;

export const LIST_METHODS: ReadonlyMap<string, ListMethod> = new Map<string, ListMethod>([
  ['filter', filter],
  ['map', map],
  ['flatMap', flatMap],
  ['find', find],
  ['some', (call) => quantify(call, true)],
  ['every', (call) => quantify(call, false)],
  ['includes', (call) => search(call, BOOLEAN, (index) => index >= 0)],
  ['indexOf', (call) => search(call, INTEGER, (index) => index)],
  ['join', join],
  ['slice', slice],
  ['concat', concat],
  ['flat', flat],
]);

function filter(call: MethodCall): ReturnType<ListMethod> {
  const test = call.arrow('condition');
  return {
    type: listOf(test.narrowed),
    run: (frame, list) =>
      list.filter((item, index) => expectBoolean(test.run(frame, item, index), 'the condition of filter')),
  };
}

function map(call: MethodCall): ReturnType<ListMethod> {
  const arrow = call.arrow('value');
  return { type: listOf(arrow.type), run: (frame, list) => list.map((item, index) => arrow.run(frame, item, index)) };
}

function flatMap(call: MethodCall): ReturnType<ListMethod> {
  const arrow = call.arrow('value');
  return {
    type: listOf(flattened(arrow.type)),
    run: (frame, list) =>
      flatten(
        frame,
        list.map((item, index) => arrow.run(frame, item, index)),
      ),
  };
}

function flat(call: MethodCall): ReturnType<ListMethod> {
  call.takes(0);
  return { type: listOf(flattened(call.of)), run: flatten };
}

/** The element type after one level of lists is opened. */
function flattened(of: Type): Type {
  return unionOf(
    membersOf(of).map((member) => (member.kind === 'list' ? member.of : member.kind === 'raw' ? ANY : member)),
  );
}

function flatten(frame: Frame, list: readonly JsonValue[]): JsonValue[] {
  const result: JsonValue[] = [];
  for (const item of list) {
    charge(frame, isJsonList(item) ? item.length + 1 : 1);
    if (isJsonList(item)) for (const inner of item) result.push(inner);
    else result.push(item);
  }
  return result;
}

function find(call: MethodCall): ReturnType<ListMethod> {
  const test = call.arrow('condition');
  return {
    type: orNull(test.narrowed),
    run: (frame, list) =>
      list.find((item, index) => expectBoolean(test.run(frame, item, index), 'the condition of find')) ?? null,
  };
}

/** `some` looks for a true item, `every` for a false one. */
function quantify(call: MethodCall, wanted: boolean): ReturnType<ListMethod> {
  const test = call.arrow('condition');
  const place = `the condition of ${call.expr.name}`;
  return {
    type: BOOLEAN,
    run: (frame, list) =>
      list.some((item, index) => expectBoolean(test.run(frame, item, index), place) === wanted) === wanted,
  };
}

function search(call: MethodCall, type: Type, answer: (index: number) => JsonValue): ReturnType<ListMethod> {
  call.takes(1);
  const wanted = call.value(0);
  call.compiler.refuseSecret(call.expr.object, call.of);
  if (!overlap(wanted.type, call.of)) {
    const message = `${call.compiler.textOf(call.expr.object)} holds ${shortType(call.of)}, never ${shortType(wanted.type)}`;
    throw new ExpressionProblem('M406', message, call.argument(0));
  }
  const types = [call.of, wanted.type];
  const areTimes = types.some(holdsTimes);
  return {
    type,
    run: (frame, list) => {
      const value = wanted.run(frame);
      if (!areTimes) return answer(list.findIndex((item) => equal(frame, item, value)));
      chargeParts(frame, list);
      const moment = comparable(value, types);
      return answer(list.findIndex((item) => equal(frame, comparable(item, types), moment)));
    },
  };
}

function join(call: MethodCall): ReturnType<ListMethod> {
  call.takes(0, 1);
  const separator = call.expr.args.length === 1 ? call.text(0) : undefined;
  call.compiler.refuseSecret(call.expr.object, call.of);
  const place = call.compiler.textOf(call.expr.object);
  const bad = membersOf(call.of).find((member) =>
    ['list', 'map', 'object', 'open', 'file', 'null'].includes(member.kind),
  );
  if (bad) {
    throw new ExpressionProblem(
      'M407',
      `items of ${place} are ${shortType(bad)}, which has no text form`,
      call.expr.object,
      'map them to texts first',
    );
  }
  return {
    type: STRING,
    run: (frame, list) => {
      const between = separator ? expectText(separator.run(frame), call.place(0)) : ',';
      // A number is turned into text.
      charge(frame, 2 * list.length);
      const texts = list.map((item) => scalarText(item, `an item of ${place}`));
      chargeText(
        frame,
        texts.reduce((total, text) => total + text.length + between.length, 0),
      );
      return texts.join(between);
    },
  };
}

function slice(call: MethodCall): ReturnType<ListMethod> {
  call.takes(0, 2);
  const start = call.number(0);
  const end = call.number(1);
  return {
    type: listOf(call.of),
    run: (frame, list) => {
      const from = start ? expectNumber(start.run(frame), call.place(0)) : 0;
      const part = list.slice(from, end ? expectNumber(end.run(frame), call.place(1)) : undefined);
      charge(frame, part.length);
      return part;
    },
  };
}

function concat(call: MethodCall): ReturnType<ListMethod> {
  call.takes(1);
  const other = call.compiler.compile(call.argument(0), call.env);
  const type = call.compiler.present(call.argument(0), other);
  const of = elementType(type);
  if (of === undefined)
    throw new ExpressionProblem(
      'M406',
      `concat takes a list, not ${shortType(type)}`,
      call.argument(0),
      'write  concat([x])',
    );
  return {
    type: listOf(unionOf([call.of, of])),
    run: (frame, list) => {
      const added = expectList(other.run(frame), call.place(0));
      charge(frame, list.length + added.length);
      return [...list, ...added];
    },
  };
}
