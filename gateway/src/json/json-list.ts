// Finds the items of one list in a JSON text without parsing them, so that a long list is read item by item. The
// content of an item is checked when it is read: a fault there affects only that item.
import { type JsonFault, readJson } from './json-gate.ts';
import { endOfText } from './json-weight.ts';

export type ListReading =
  | { readonly ok: false; readonly fault: JsonFault }
  | {
      readonly ok: true;
      /**
       * The body for the check of its schema: null for each item of the list, and only the type of every other value.
       */
      readonly outline: unknown;
      readonly items: readonly Buffer[];
    };

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const LIST = 0x5b;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
/** Scanned in less than a millisecond. */
const PART_BYTES = 256 * 1024;
/** Fields besides the list; a body with more is refused for the first of them. */
const FIELDS_MAX = 20;
const NAME_BYTES_MAX = 1_000;

const BROKEN: ListReading = { ok: false, fault: { path: '', code: 'json', message: 'The body is not JSON.' } };

/**
 * Reads the list `name` of the object in `bytes`. The caller may pause at each `yield`. Ends as soon as there are too
 * many items.
 */
export function* readList(bytes: Buffer, name: string, itemsMax: number): Generator<undefined, ListReading> {
  let at = afterSpace(bytes, 0);
  if (bytes[at] !== OBJECT) return { ok: true, outline: bytes[at] === LIST ? [] : null, items: [] };
  const fields = new Map<string, unknown>();
  let items: Buffer[] = [];
  let part = PART_BYTES;
  at = afterSpace(bytes, at + 1);
  let isOver = bytes[at] === OBJECT_END;
  while (!isOver) {
    const field = fieldAt(bytes, at);
    if (!field.ok) return field;
    at = field.valueAt;
    if (field.name !== name || bytes[at] !== LIST) {
      if (field.name === name) items = [];
      fields.set(field.name, emptied(bytes[at]));
      if (fields.size > FIELDS_MAX) break;
      at = endOfValue(bytes, at);
    } else {
      items = [];
      at = afterSpace(bytes, at + 1);
      let isListOver = bytes[at] === LIST_END;
      while (!isListOver) {
        const end = endOfValue(bytes, at);
        if (end < 0) return BROKEN;
        items.push(bytes.subarray(at, end));
        if (items.length > itemsMax) return { ok: true, outline: { [name]: nulls(items.length) }, items: [] };
        at = afterSpace(bytes, end);
        isListOver = bytes[at] === LIST_END;
        if (!isListOver && bytes[at] !== COMMA) return BROKEN;
        if (!isListOver) at = afterSpace(bytes, at + 1);
        if (at >= part) {
          part = at + PART_BYTES;
          yield;
        }
      }
      at++;
      fields.set(name, nulls(items.length));
    }
    if (at < 0) return BROKEN;
    at = afterSpace(bytes, at);
    isOver = bytes[at] === OBJECT_END;
    if (!isOver && bytes[at] !== COMMA) return BROKEN;
    if (!isOver) at = afterSpace(bytes, at + 1);
  }
  if (isOver && afterSpace(bytes, at + 1) !== bytes.length) return BROKEN;
  // Without assignment, since a field may have the name `__proto__`.
  return { ok: true, outline: Object.fromEntries(fields), items };
}

type Field = { readonly ok: true; readonly name: string; readonly valueAt: number } | (ListReading & { ok: false });

function fieldAt(bytes: Buffer, at: number): Field {
  if (bytes[at] !== QUOTE) return BROKEN as Field;
  const end = endOfText(bytes, at) + 1;
  const colon = afterSpace(bytes, end);
  if (bytes[colon] !== COLON) return BROKEN as Field;
  const valueAt = afterSpace(bytes, colon + 1);
  // No known field is this long, and an error shows only the beginning.
  if (end - at > NAME_BYTES_MAX) return { ok: true, name: bytes.toString('latin1', at + 1, at + 200), valueAt };
  const reading = readJson(bytes.subarray(at, end));
  return reading.ok ? { ok: true, name: reading.value as string, valueAt } : reading;
}

/** Returns -1 if there is no value, or if it does not end. */
function endOfValue(bytes: Buffer, from: number): number {
  const first = bytes[from];
  if (first === QUOTE) {
    const end = endOfText(bytes, from);
    return end < bytes.length ? end + 1 : -1;
  }
  if (first !== LIST && first !== OBJECT) return endOfScalar(bytes, from);
  let depth = 0;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (byte === LIST || byte === OBJECT) depth++;
    else if (byte === LIST_END || byte === OBJECT_END) {
      depth--;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

function endOfScalar(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && !isSpace(bytes[at]) && !isDelimiter(bytes[at])) at++;
  return at === from ? -1 : at;
}

function isDelimiter(byte: number | undefined): boolean {
  return byte === COMMA || byte === LIST_END || byte === OBJECT_END;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function afterSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at++;
  return at;
}

function emptied(first: number | undefined): unknown {
  if (first === QUOTE) return '';
  if (first === LIST) return [];
  return first === OBJECT ? {} : null;
}

function nulls(count: number): null[] {
  return Array.from({ length: count }, () => null);
}
