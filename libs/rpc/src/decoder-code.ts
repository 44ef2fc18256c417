// Decoders as JavaScript, written from the description of a message and compiled at once for all messages within it:
// one statement a field, where the library looks up the field and a function for it, and sets properties by name.
import { type DescField, type DescMessage, type DescOneof, ScalarType } from '@bufbuild/protobuf';
import { assert } from '@methods/base/assert';
import { messagesWithin, nameOf } from './message-code.ts';
import { NESTING_MAX, setOwn, tooDeep, type WireReader } from './wire-reader.ts';

/** Reads the fields up to `end`: `read` as a new message, `merge` into one that has some already. */
export interface MessageDecoder {
  read(reader: WireReader, end: number, depth: number): object;
  merge(reader: WireReader, end: number, message: object, depth: number): object;
}

const EMPTY = new Uint8Array(0);

export function compileDecoder(desc: DescMessage): MessageDecoder {
  const functions = messagesWithin(desc).flatMap((message) => [readCode(message), mergeCode(message)]);
  const result = `return { read: read_${nameOf(desc)}, merge: merge_${nameOf(desc)} };`;
  const code = `'use strict';\n${functions.join('\n')}\n${result}`;
  return new Function('EMPTY', 'tooDeep', 'setOwn', code)(EMPTY, tooDeep, setOwn) as MessageDecoder;
}

// Values are kept in variables until all are there: an object made with its values costs a third of one that is filled.
function readCode(desc: DescMessage): string {
  const values = desc.members.map((member) => `${at('', member)} = ${zeroCode(member)}`);
  const isAbsent = (member: DescField | DescOneof) => zeroCode(member) === 'undefined' && member.kind === 'field';
  const properties = desc.members
    .filter((member) => !isAbsent(member))
    .map(
      (member) => `${member.localName}: ${at('', member)}${member.kind === 'oneof' ? ' ?? { case: undefined }' : ''}`,
    );
  const optional = desc.members
    .filter(isAbsent)
    .map((member) => `  if (${at('', member)} !== undefined) m.${member.localName} = ${at('', member)};`);
  return `function read_${nameOf(desc)}(r, end, depth) {
  let ${['n = 0', ...values].join(', ')};
${loopCode(desc, '')}
  const m = { ${[`$typeName: ${JSON.stringify(desc.typeName)}`, ...properties].join(', ')} };
${optional.join('\n')}
  return m;
}`;
}

// For a message that comes in several parts, which is rare.
function mergeCode(desc: DescMessage): string {
  return `function merge_${nameOf(desc)}(r, end, m, depth) {
  let n = 0;
${loopCode(desc, 'm.')}
  return m;
}`;
}

function loopCode(desc: DescMessage, holder: string): string {
  const cases = desc.fields.map((field) => `      case ${field.number}: ${fieldCode(field, holder)} break;`);
  return `  if (depth > ${NESTING_MAX}) throw tooDeep();
  while (r.pos < end) {
    const tag = r.tag();
    switch (tag >>> 3) {
${cases.join('\n')}
      default: r.skip(tag, depth);
    }
  }`;
}

/** Where the value of a field or oneof is: a property of the `holder`, or a variable. */
function at(holder: string, { localName }: DescField | DescOneof): string {
  return holder === '' ? `$${localName}` : `${holder}${localName}`;
}

/** `undefined`: the message has no such property while the field is absent. */
function zeroCode(member: DescField | DescOneof): string {
  if (member.kind === 'oneof') return 'undefined';
  if (member.fieldKind === 'list') return '[]';
  if (member.fieldKind === 'map') return '{}';
  if (member.fieldKind === 'message' || member.proto.proto3Optional) return 'undefined';
  if (member.fieldKind === 'enum') return String(member.enum.values[0]?.number ?? 0);
  const zeros: Partial<Record<ScalarType, string>> = {
    [ScalarType.STRING]: `''`,
    [ScalarType.BYTES]: 'EMPTY',
    [ScalarType.BOOL]: 'false',
  };
  return zeros[member.scalar] ?? '0';
}

function fieldCode(field: DescField, holder: string): string {
  const place = at(holder, field.oneof ?? field);
  if (field.fieldKind === 'map') return entryCode(field, place);
  if (field.fieldKind === 'list') {
    if (field.listKind === 'message') return `n = r.uint(); ${place}.push(${messageCode(field.message)});`;
    const item = valueCode(field);
    if (field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES) return `${place}.push(${item});`;
    return `if ((tag & 7) !== 2) ${place}.push(${item}); else { n = r.packedEnd(); while (r.pos < n) ${place}.push(${item}); }`;
  }
  const name = JSON.stringify(field.localName);
  if (field.fieldKind !== 'message') {
    const value = valueCode(field);
    return field.oneof === undefined ? `${place} = ${value};` : `${place} = { case: ${name}, value: ${value} };`;
  }
  if (field.oneof === undefined) return `n = r.uint(); ${place} = ${messageCode(field.message, place)};`;
  const message = messageCode(field.message, `${place}.value`, `${place} !== undefined && ${place}.case === ${name}`);
  return `n = r.uint(); ${place} = { case: ${name}, value: ${message} };`;
}

function entryCode(field: DescField & { fieldKind: 'map' }, place: string): string {
  assert(field.mapKey === ScalarType.STRING, `${field} is a map whose keys are not texts`);
  if (field.mapKind !== 'message') {
    assert(field.scalar === ScalarType.STRING, `${field} is a map whose values are neither texts nor messages`);
    return `r.textEntry(${place}, depth);`;
  }
  const empty = `read_${nameOf(field.message)}(r, r.pos, depth + 1)`;
  return `{
        n = r.uint();
        const stop = r.pos + n;
        let key = '', value;
        while (r.pos < stop) {
          const tag = r.tag();
          if (tag >>> 3 === 1) key = r.text();
          else if (tag >>> 3 === 2) { n = r.uint(); value = ${messageCode(field.message, 'value')}; }
          else r.skip(tag, depth);
        }
        setOwn(${place}, key, value ?? ${empty});
      }`;
}

/** Reads a message of `n` bytes, into `known` if it is given. */
function messageCode(message: DescMessage, known?: string, isKnown = `${known} !== undefined`): string {
  const name = nameOf(message);
  const read = `read_${name}(r, r.pos + n, depth + 1)`;
  return known === undefined ? read : `${isKnown} ? merge_${name}(r, r.pos + n, ${known}, depth + 1) : ${read}`;
}

function valueCode(field: DescField): string {
  if (field.enum !== undefined) {
    assert(field.enum.open, `${field} is a closed enum`);
    return 'r.uint() | 0';
  }
  assert(field.scalar !== ScalarType.STRING || field.utf8Validation, `${field} is a text that need not be UTF-8`);
  const calls: Partial<Record<ScalarType, string>> = {
    [ScalarType.STRING]: 'r.text()',
    [ScalarType.BYTES]: 'r.blob()',
    [ScalarType.UINT32]: 'r.uint()',
    [ScalarType.DOUBLE]: 'r.double()',
    [ScalarType.BOOL]: 'r.bool()',
  };
  const call = field.scalar === undefined ? undefined : calls[field.scalar];
  assert(call, `${field} has a type that decoders do not know`);
  return call;
}
