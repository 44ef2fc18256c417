// Owns the tree of a source: mappings, lists and scalars with their places, free of YAML's own node classes.
import { type JsonValue, objectOf } from '../json.ts';
import type { Range } from './source-text.ts';

export type SourceNode = SourceMap | SourceList | SourceScalar;

export interface SourceEntry {
  readonly key: string;
  readonly keyRange: Range;
  readonly value: SourceNode;
}

export interface SourceMap {
  readonly kind: 'map';
  readonly range: Range;
  /** In file order; keys are unique. */
  readonly entries: ReadonlyMap<string, SourceEntry>;
}

export interface SourceList {
  readonly kind: 'list';
  readonly range: Range;
  readonly items: readonly SourceNode[];
}

export interface SourceScalar {
  readonly kind: 'scalar';
  readonly range: Range;
  readonly value: null | boolean | number | string;
  /** The value as text: of a plain number or boolean the author's spelling. Empty for null. */
  readonly text: string;
  /** Offset of `text`'s first character when its characters map one to one to the source, else null. */
  readonly textAt: number | null;
  /** Offset of the first line of a block scalar's content, else the scalar's start. */
  readonly contentAt: number;
}

/** All entries of a mapping; none for anything else. */
export function entriesOf(node: SourceNode | undefined): Iterable<SourceEntry> {
  return node?.kind === 'map' ? node.entries.values() : [];
}

/** True for a missing or empty value. */
export function isEmptyNode(node: SourceNode): boolean {
  return node.kind === 'scalar' && node.value === null;
}

/** The text of a string scalar, undefined for all else. */
export function stringOf(node: SourceNode | undefined): string | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
}

/** The node as plain JSON. */
export function jsonOf(node: SourceNode): JsonValue {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(jsonOf);
  return objectOf(Array.from(node.entries.values(), (entry) => [entry.key, jsonOf(entry.value)] as const));
}

/** The range of a part of a scalar's text, or of the whole scalar where characters do not map one to one. */
export function rangeInside(node: SourceScalar, start: number, end: number): Range {
  return node.textAt === null ? node.range : [node.textAt + start, node.textAt + Math.max(start, end)];
}
