// Owns the question whether a value written in a source fits a declared type, and where it first does not.

import { nearest } from '../source/did-you-mean.ts';
import { isEmptyNode, type SourceMap, type SourceNode, type SourceScalar } from '../source/source-node.ts';
import type { Range } from '../source/source-text.ts';
import { fits } from './fits.ts';
import { membersOf, type ObjectType, shortType, type Type } from './type.ts';

export interface Misfit {
  readonly path: string;
  readonly range: Range;
  /** The place and its fault, such as `total is missing`. */
  readonly message: string;
  readonly hint: string | undefined;
}

type Member = ReturnType<typeof membersOf>[number];
type MemberOf<K extends Member['kind']> = Extract<Member, { readonly kind: K }>;

// Type members looked at plus pattern steps, for all tests together. The rest is not judged here: the tester checks
// every value once more.
const WORK_MAX = 3_000_000;

export class ValueFit {
  #work = 0;

  /** The first misfit; undefined when the value fits. Files are written `{ $file: text }`, secrets as text. */
  of(node: SourceNode, type: Type, path: string, label: string): Misfit | undefined {
    const members = membersOf(type);
    this.#work += members.length;
    if (this.#work > WORK_MAX || members.some(({ kind }) => kind === 'any' || kind === 'raw')) return undefined;
    if (node.kind === 'list') {
      const list = members.find((member) => member.kind === 'list');
      return list
        ? this.#list(node.items, list as MemberOf<'list' | 'map'>, node, path, label)
        : wrong(node, type, path, label);
    }
    if (node.kind === 'map') return this.#map(node, type, members, path, label);
    return members.some((member) => this.#scalar(node, member)) ? undefined : wrong(node, type, path, label);
  }

  /** An object's fields, with `{}` and an empty value alike. */
  fields(node: SourceNode, type: ObjectType, path: string, label: string): Misfit | undefined {
    const empty: SourceMap = { kind: 'map', range: node.range, entries: new Map() };
    return isEmptyNode(node) ? this.#object(empty, type, path, label) : this.of(node, type, path, label);
  }

  #list(
    items: readonly SourceNode[],
    type: MemberOf<'list' | 'map'>,
    node: SourceNode,
    path: string,
    label: string,
  ): Misfit | undefined {
    const { min = 0, max = Number.POSITIVE_INFINITY } = type.bounds;
    if (items.length < min || items.length > max) return wrong(node, type, path, label, `has ${items.length} items`);
    for (const [index, item] of items.entries()) {
      const misfit = this.of(item, type.of, `${path}[${index}]`, `${label}[${index}]`);
      if (misfit) return misfit;
    }
    return undefined;
  }

  #map(node: SourceMap, type: Type, members: readonly Member[], path: string, label: string): Misfit | undefined {
    const file = node.entries.get('$file');
    if (members.some(({ kind }) => kind === 'file') && file && node.entries.size === 1) {
      return file.value.kind === 'scalar'
        ? undefined
        : misfit(file.value, `${path}.$file`, `${label}.$file is not text`);
    }
    if (members.some(({ kind }) => kind === 'open')) return undefined;
    for (const member of members) {
      if (member.kind === 'object') return this.#object(node, member, path, label);
      if (member.kind !== 'map') continue;
      const values = Array.from(node.entries.values(), (entry) => entry.value);
      return this.#list(values, member as MemberOf<'list' | 'map'>, node, path, label);
    }
    return wrong(node, type, path, label);
  }

  #object(node: SourceMap, type: ObjectType, path: string, label: string): Misfit | undefined {
    for (const { key, keyRange, value } of node.entries.values()) {
      const field = type.fields.get(key);
      const at = `${path}.${key}`;
      const inner = label === '' ? key : `${label}.${key}`;
      if (!field) {
        const near = nearest(key, type.fields.keys());
        return {
          path: at,
          range: keyRange,
          message: `${inner.slice(0, 80)} is not declared`,
          hint: near === undefined ? undefined : `did you mean "${near}"?`,
        };
      }
      // Absent is null in this language.
      if (field.optional && isEmptyNode(value)) continue;
      const found = this.of(value, field.type, at, inner);
      if (found) return found;
    }
    for (const [name, field] of type.fields) {
      if (field.optional || field.default !== undefined || node.entries.has(name)) continue;
      return misfit(node, `${path}.${name}`, `${label === '' ? name : `${label}.${name}`} is missing`);
    }
    return undefined;
  }

  #scalar(node: SourceScalar, member: Member): boolean {
    const { value } = node;
    if (member.kind === 'secret') return typeof value === 'string';
    if (member.kind !== 'string' || member.pattern === undefined || typeof value !== 'string')
      return fits(value, member as Type);
    const { pattern, ...plain } = member;
    if (!fits(value, plain)) return false;
    this.#work += value.length * pattern.size;
    return this.#work > WORK_MAX || pattern.test(value);
  }
}

function wrong(node: SourceNode, type: Type, path: string, label: string, why?: string): Misfit {
  const what = label === '' ? 'it' : label.slice(0, 80);
  const message = why === undefined ? `${what} must be ${shortType(type)}` : `${what} ${why}`;
  const isFile = membersOf(type).some((member) => member.kind === 'file');
  const isUnquoted =
    node.kind === 'scalar' && typeof node.value !== 'string' && node.text !== '' && fits(node.text, type);
  const hint = isFile
    ? 'write a file as  { $file: its text }'
    : isUnquoted
      ? 'put it in quotes to make it text'
      : undefined;
  return { ...misfit(node, path, message), hint };
}

function misfit(node: SourceNode, path: string, message: string): Misfit {
  return { path, range: node.range, message: message.slice(0, 200), hint: undefined };
}
