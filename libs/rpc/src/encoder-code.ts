// Encoders as JavaScript, written from the description of a message and compiled at once for all messages within it.
// They take messages and plain objects of their shape alike, where the library first makes messages of the latter.
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { assert } from '@methods/base/assert';
import { messagesWithin, nameOf } from './message-code.ts';
import type { WireWriter } from './wire-writer.ts';

export type MessageEncoder = (writer: WireWriter, message: object) => void;

export function compileEncoder(desc: DescMessage): MessageEncoder {
  const functions = messagesWithin(desc).map(writeCode);
  const code = `'use strict';\n${functions.join('\n')}\nreturn write_${nameOf(desc)};`;
  return new Function('checkInit', code)(checkInit) as MessageEncoder;
}

/** A value that is not a message of this type must be a plain object. */
function checkInit(value: unknown, typeName: string): void {
  const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value) && !('$typeName' in value);
  if (!isPlain) throw new TypeError(`a field of ${typeName} holds something else`);
}

// An undefined value is written as a message without any field, as the library does it.
function writeCode(desc: DescMessage): string {
  const fields = [...desc.fields].sort((a, b) => a.number - b.number).map((field) => `  ${fieldCode(field)}`);
  const typeName = JSON.stringify(desc.typeName);
  // As with the library, any value is accepted for a message without fields.
  const check = fields.length === 0 ? '' : `  if (m.$typeName !== ${typeName}) checkInit(m, ${typeName});\n`;
  return `function write_${nameOf(desc)}(w, m) {
  if (m === undefined) return;
${check}  let v;
${fields.join('\n')}
  if (m.$unknown !== undefined) for (const { no, wireType, data } of m.$unknown) { w.tag(((no << 3) | wireType) >>> 0); w.raw(data); }
}`;
}

function fieldCode(field: DescField): string {
  if (field.oneof !== undefined && !field.proto.proto3Optional) {
    const oneof = `m.${field.oneof.localName}`;
    const isSet = `${oneof} !== undefined && ${oneof} !== null && ${oneof}.case === ${JSON.stringify(field.localName)}`;
    return `if (${isSet}) { v = ${oneof}.value; ${valueCode(field, 'v')} }`;
  }
  return `v = m.${field.localName}; if (v !== undefined && v !== null) ${presentCode(field)}`;
}

function presentCode(field: DescField): string {
  switch (field.fieldKind) {
    case 'list':
      return listCode(field);
    case 'map':
      return entriesCode(field);
    case 'message':
      return `{ ${valueCode(field, 'v')} }`;
    default:
      return field.proto.proto3Optional
        ? `{ ${valueCode(field, 'v')} }`
        : `if (${isSetCode(field)}) { ${valueCode(field, 'v')} }`;
  }
}

function entriesCode(field: DescField & { fieldKind: 'map' }): string {
  assert(field.mapKey === ScalarType.STRING, `${field} is a map whose keys are not texts`);
  const each = 'for (const key of Object.keys(v))';
  if (field.mapKind !== 'message') {
    assert(field.scalar === ScalarType.STRING, `${field} is a map whose values are neither texts nor messages`);
    return `${each} w.textEntry(${tagOf(field, 2)}, key, v[key]);`;
  }
  const value = `w.tag(18); const inner = w.open(); write_${nameOf(field.message)}(w, v[key]); w.close(inner);`;
  return `${each} { w.tag(${tagOf(field, 2)}); const begin = w.open(); w.tag(10); w.text(key); ${value} w.close(begin); }`;
}

function listCode(field: DescField & { fieldKind: 'list' }): string {
  const each = 'for (let i = 0; i < v.length; i++)';
  if (!field.packed) return `${each} { ${valueCode(field, 'v[i]')} }`;
  const { put } = kindOf(field);
  return `if (v.length !== 0) { w.tag(${tagOf(field, 2)}); const begin = w.open(); ${each} { w.${put}(v[i]); } w.close(begin); }`;
}

/** Whether `v` must be written: a zero value is omitted. */
function isSetCode(field: DescField): string {
  if (field.enum !== undefined) return `v !== ${field.enum.values[0]?.number ?? 0}`;
  switch (field.scalar) {
    case ScalarType.STRING:
      return `v !== ''`;
    case ScalarType.BYTES:
      return `v.length !== 0 || typeof v === 'string'`;
    case ScalarType.BOOL:
      return 'v !== false';
    case ScalarType.DOUBLE:
      // Minus zero is not a zero value.
      return 'v !== 0 || 1 / v < 0';
    default:
      return 'v != 0';
  }
}

/** Tag and value. */
function valueCode(field: DescField, value: string): string {
  if (field.message !== undefined)
    return `w.tag(${tagOf(field, 2)}); const begin = w.open(); write_${nameOf(field.message)}(w, ${value}); w.close(begin);`;
  const { put, wireType } = kindOf(field);
  return `w.tag(${tagOf(field, wireType)}); w.${put}(${value});`;
}

function tagOf(field: DescField, wireType: number): number {
  return ((field.number << 3) | wireType) >>> 0;
}

interface Kind {
  readonly put: string;
  readonly wireType: number;
}

const KINDS: Partial<Record<ScalarType, Kind>> = {
  [ScalarType.STRING]: { put: 'text', wireType: 2 },
  [ScalarType.BYTES]: { put: 'blob', wireType: 2 },
  [ScalarType.UINT32]: { put: 'uint', wireType: 0 },
  [ScalarType.DOUBLE]: { put: 'double', wireType: 1 },
  [ScalarType.BOOL]: { put: 'bool', wireType: 0 },
};

function kindOf(field: DescField): Kind {
  if (field.enum !== undefined) return { put: 'int', wireType: 0 };
  const kind = field.scalar === undefined ? undefined : KINDS[field.scalar];
  assert(kind, `${field} has a type that encoders do not know`);
  return kind;
}
