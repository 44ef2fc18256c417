// Owns reading YAML: the guards before the parser (depth and number of elements) and the turn into a source tree.
import { Composer, type Document, isAlias, isMap, isScalar, isSeq, Lexer, type Node, Parser, type Scalar } from 'yaml';
import type { Findings } from './findings.ts';
import type { SourceEntry, SourceMap, SourceNode, SourceScalar } from './source-node.ts';
import { isStorable, type Range } from './source-text.ts';
import { hintForSyntax, hintForTag } from './yaml-hints.ts';

// A 256 KiB source of one-character elements costs the parser half a second; a real method has far fewer elements.
const ELEMENTS_MAX = 40_000;
// The composer recurses once a level, and so does the parser where it closes them. The language itself nests at most 8
// blocks.
const LEVELS_MAX = 64;
// The document and its mapping.
const STACK_AROUND_ROOT = 2;

// The parser's own sentences are shorter; some quote the source after them.
const MESSAGE_CHARACTERS_MAX = 200;

// Lexemes of the lexer's own without a character of the source: document, end of flow, scalar follows.
const LEXER_MARKS = new Set(['\u0002', '\u0018', '\u001f']);

type Token = Parameters<Composer['next']>[0];

/** Reads the one mapping of a source; null with findings otherwise. After a syntax error only that one is reported. */
export function readYaml(findings: Findings): SourceMap | null {
  const text = findings.source.text;
  const tokens = tokensOf(text, findings);
  if (tokens === null) return null;
  const documents = composed(tokens, text.length);
  const first = documents[0];
  const syntax = first?.errors[0];
  if (syntax) {
    const code = syntax.code === 'TAB_AS_INDENT' ? 'M004' : 'M001';
    const message = short(syntax.message.split('\n')[0] ?? '', MESSAGE_CHARACTERS_MAX);
    const range: Range = [syntax.pos[0], Math.max(syntax.pos[0], syntax.pos[1])];
    if (code === 'M004') findings.add(code, 'tabs cannot indent YAML', '', range, { hint: 'use two spaces' });
    else
      findings.add(code, `not valid YAML: ${message}`, '', range, { hint: hintForSyntax(findings.source, range[0]) });
    return null;
  }
  if (documents.length !== 1 || !first || !isMap(first.contents)) {
    findings.add('M006', 'a method is one YAML mapping', '', [0, Math.min(1, text.length)], {
      hint: 'start with  format: method/2',
    });
    return null;
  }
  const reader = new TreeReader(findings);
  const root = reader.read(first.contents, '', 0);
  // Everything else about a value that could not be read would be a guess, and its findings would come before the real
  // one.
  return root?.kind === 'map' && !reader.lost ? root : null;
}

const YAML_OPTIONS = {
  version: '1.2',
  schema: 'core',
  merge: false,
  prettyErrors: false,
  // The library compares each key with each other one: quadratic. The tree reader finds repeats with a map.
  uniqueKeys: false,
} as const;

/**
 * A source can be nothing but faults. Only the first one counts; capturing the stack of each would be most of the work.
 */
function composed(tokens: readonly Token[], end: number): Document.Parsed[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return [...new Composer({ ...YAML_OPTIONS }).compose(tokens, true, end)];
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Lexes and parses within the bounds: both steps are loops while depth is bounded, and the later steps recurse. */
function tokensOf(text: string, findings: Findings): Token[] | null {
  const tokens: Token[] = [];
  const parser = new Parser();
  let elements = 0;
  let offset = 0;
  for (const lexeme of new Lexer().lex(text)) {
    elements++;
    if (elements > ELEMENTS_MAX) {
      findings.add('M002', `the source has more than ${ELEMENTS_MAX} YAML elements`, '', [offset, offset]);
      return null;
    }
    for (const token of parser.next(lexeme)) tokens.push(token);
    // The constructs open around this place. Brackets and dashes cannot be counted instead: the parser also opens
    // levels, and closes them, where the text is wrong.
    if (parser.stack.length > LEVELS_MAX + STACK_AROUND_ROOT) {
      findings.add('M001', `nested deeper than ${LEVELS_MAX} levels`, '', [offset, offset + lexeme.length]);
      return null;
    }
    if (!LEXER_MARKS.has(lexeme)) offset += lexeme.length;
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

/** Turns the composed document into a source tree and reports what YAML allows and a method does not. */
class TreeReader {
  /** Something of the source is not in the tree. */
  lost = false;
  readonly #findings: Findings;

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  read(node: Node | null, path: string, level: number, near: Range = [0, 0]): SourceNode | null {
    if (node === null) return emptyScalar(near);
    const range: Range = [node.range?.[0] ?? near[0], node.range?.[1] ?? near[1]];
    if (level > LEVELS_MAX) {
      this.#findings.add('M001', `nested deeper than ${LEVELS_MAX} levels`, path, range);
      return null;
    }
    // Before the anchors: in `!a && b` YAML reads a tag and then an anchor, and only the tag shows what was meant.
    if (node.tag && !isPlainTag(node)) {
      const start = tagStart(this.#findings.source.text, range[0]);
      this.#findings.add('M005', '`!` at the start of a value is a YAML tag', path, [start, range[1]], {
        hint: hintForTag(this.#findings.source, start),
      });
      this.lost = true;
      return null;
    }
    if (isAlias(node) || ('anchor' in node && node.anchor)) {
      this.#findings.add('M007', 'YAML anchors and aliases are not allowed', path, range, {
        hint: 'repeat the value, or name a type under types:',
      });
      this.lost = true;
      return null;
    }
    if (isScalar(node)) return this.#scalar(node, path, range);
    if (isSeq(node)) {
      const items = node.items.map((item, index) =>
        this.read(item as Node | null, `${path}[${index}]`, level + 1, range),
      );
      return { kind: 'list', range, items: items.map((item) => item ?? emptyScalar(range)) };
    }
    return isMap(node) ? this.#map(node.items, path, range, level) : null;
  }

  #map(pairs: readonly { key: unknown; value: unknown }[], path: string, range: Range, level: number): SourceMap {
    const entries = new Map<string, SourceEntry>();
    for (const pair of pairs) {
      const key = pair.key as Node | null;
      const keyRange: Range = key?.range ? [key.range[0], key.range[1]] : range;
      if (!isScalar(key) || key.value === null || key.tag || key.anchor) {
        this.#findings.add('M001', 'a key must be a plain word', path, keyRange);
        this.lost = true;
        continue;
      }
      const name = typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
      if (name === '<<') {
        this.#findings.add('M007', 'YAML merge keys are not allowed', path, keyRange, { hint: 'repeat the fields' });
        this.lost = true;
        continue;
      }
      const at = path ? `${path}.${name}` : name;
      if (key.type === 'QUOTE_DOUBLE' && !isStorable(name))
        this.#findings.add('M002', 'a key holds a character that cannot be stored', path, keyRange);
      if (entries.has(name)) {
        this.#findings.add('M003', `"${short(name)}" is already used in this mapping`, at, keyRange, {
          hint: 'remove one of the two',
        });
        continue;
      }
      const end: Range = [keyRange[1], keyRange[1]];
      const value = this.read(pair.value as Node | null, at, level + 1, end) ?? emptyScalar(end);
      entries.set(name, { key: name, keyRange, value });
    }
    return { kind: 'map', range, entries };
  }

  #scalar(node: Scalar, path: string, range: Range): SourceScalar | null {
    const value = node.value;
    if (typeof value === 'number' && !Number.isFinite(value)) {
      this.#findings.add('M304', 'this number is too large', path, range, {
        hint: 'put it in quotes to keep it as text',
      });
      this.lost = true;
      return null;
    }
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      this.#findings.add('M304', 'this whole number cannot be kept exactly', path, range, {
        hint: 'put it in quotes to keep it as text',
      });
      this.lost = true;
      return null;
    }
    if (value !== null && !['string', 'number', 'boolean'].includes(typeof value)) return emptyScalar(range);
    // The source as a whole is well-formed text; only an escape can write invalid text.
    if (typeof value === 'string' && node.type === 'QUOTE_DOUBLE' && !isStorable(value)) {
      this.#findings.add('M002', 'the text holds a character that cannot be stored', path, range);
      this.lost = true;
      return null;
    }
    const plain = value as null | boolean | number | string;
    const text = typeof plain === 'string' ? plain : plain === null ? '' : (node.source ?? String(plain));
    const quoted = node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE';
    const start = range[0] + (quoted ? 1 : 0);
    const exact = this.#findings.source.text.startsWith(text, start);
    const block = node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED';
    const lineEnd = this.#findings.source.text.indexOf('\n', range[0]);
    return {
      kind: 'scalar',
      range,
      value: plain,
      text,
      textAt: exact ? start : null,
      contentAt: block && lineEnd >= 0 ? lineEnd + 1 : range[0],
    };
  }
}

/**
 * Block scalars and quoted ones carry no tag of their own; a single `!` means the author forgot an operator's quotes.
 */
function isPlainTag(node: Node): boolean {
  return node.tag === undefined || node.tag === '';
}

/** Where the tag before a value begins: YAML's own range of the value leaves it out. */
function tagStart(text: string, valueStart: number): number {
  let start = text.lastIndexOf('!', valueStart - 1);
  while (text[start - 1] === '!') start--;
  return start < 0 ? valueStart : start;
}

function emptyScalar(range: Range): SourceScalar {
  return { kind: 'scalar', range, value: null, text: '', textAt: null, contentAt: range[0] };
}

function short(text: string, charactersMax = 40): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}
