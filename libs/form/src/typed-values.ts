// Owns the names and the texts of the controls of a form: what they show for an answer, and what was typed in them.
import { isJsonList, isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import { type Field, type Form, type ListField, shownValue } from './field.ts';

/**
 * JSON Pointer of a control's place in the answer to what was typed or chosen in it; a choice is the choice's JSON. A
 * list of rows, and boxes to tick, have a control of their own that is empty: it says that they were on the page. That
 * of a group which may be left out is a box: `GIVEN` where it is ticked.
 */
export type Typed = ReadonlyMap<string, readonly string[]>;

/** Far beyond what a page shows and a reader takes. */
const TYPED_MAX = 5_000;

/** A group without values is part of the answer. */
export const GIVEN = 'given';

/** What the controls show for an answer, and for nothing: the defaults. */
export function typedValues(form: Form, answer: JsonObject = {}): Typed {
  const typed = new Map<string, readonly string[]>();
  typeFields(form.fields, answer, '', typed);
  return typed;
}

/** True for a list whose items are rows of controls; other lists are one text area, or boxes to tick. */
export function hasRows({ item }: ListField): boolean {
  return item.kind === 'group' || item.kind === 'list' || item.kind === 'json' || (item.kind === 'text' && item.long);
}

/** True for a group of which the answer may have none. */
export function mayBeLeftOut({ required, nullable }: Field): boolean {
  return !required || nullable;
}

/** The pointer of the property or item `name` below `at`. */
export function pointer(at: string, name: string | number): string {
  return `${at}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The rows of each list that have a control, by its pointer. */
export function rowsTyped(typed: Typed): ReadonlyMap<string, number> {
  const rows = new Map<string, number>();
  for (const name of typed.keys()) {
    for (const { 1: row, index } of name.matchAll(/\/(\d{1,6})(?=\/|$)/g)) {
      const at = name.slice(0, index);
      rows.set(at, Math.max(rows.get(at) ?? 0, Number(row) + 1));
    }
  }
  return rows;
}

function typeFields(
  fields: readonly Field[],
  value: JsonObject,
  at: string,
  typed: Map<string, readonly string[]>,
): void {
  for (const field of fields) {
    const own = Object.hasOwn(value, field.name) ? value[field.name] : field.default;
    if (own !== undefined) typeValue(field, own, pointer(at, field.name), typed);
    // Its fields are on the page in any case.
    else if (field.kind === 'group' && !mayBeLeftOut(field)) typeValue(field, {}, pointer(at, field.name), typed);
  }
}

function typeValue(field: Field, value: JsonValue, at: string, typed: Map<string, readonly string[]>): void {
  if (field.kind === 'group' && isJsonObject(value)) {
    if (mayBeLeftOut(field)) typed.set(at, [GIVEN]);
    return typeFields(field.fields, value, at, typed);
  }
  if (field.kind === 'list' && isJsonList(value)) return typeList(field, value, at, typed);
  if (value === null && field.kind !== 'choice' && field.kind !== 'boolean') return;
  typed.set(at, [typeof value === 'string' && field.kind !== 'choice' ? value : JSON.stringify(value)]);
}

function typeList(
  field: ListField,
  items: readonly JsonValue[],
  at: string,
  typed: Map<string, readonly string[]>,
): void {
  if (hasRows(field)) {
    typed.set(at, ['']);
    for (const [row, item] of items.entries()) {
      if (typed.size >= TYPED_MAX) return;
      typeValue(field.item, item, pointer(at, row), typed);
    }
  } else if (field.item.kind === 'choice') {
    typed.set(at, ['', ...items.map((item) => JSON.stringify(item))]);
  } else {
    typed.set(at, [items.map(shownValue).join('\n')]);
  }
}
