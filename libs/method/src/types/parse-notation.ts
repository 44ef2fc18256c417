// Owns the compact type notation: `T bounds = default -- description` as one text.
import { nearest } from '../source/did-you-mean.ts';
import { isFieldName } from '../source/names.ts';
import { NotationScanner } from './notation-scanner.ts';
import { type Pattern, type PatternBook, PatternError } from './pattern.ts';
import { type Bounds, type Field, FORMATS, type ScalarValue, type Type, unionOf } from './type.ts';

/** The names a type text may refer to. */
export interface NotationContext {
  readonly named: ReadonlyMap<string, { type: Type }>;
  readonly patterns: PatternBook;
}

/** The content of one type text. `default` is the author's raw text. */
export interface Notation {
  readonly type: Type;
  readonly default?: string;
  readonly description?: string;
}

const LEVELS_MAX = 16;
const PLAIN_KINDS = new Set(['boolean', 'null', 'any', 'file', 'secret']);
const WORDS = [
  'string',
  'text',
  'number',
  'integer',
  'boolean',
  'null',
  'any',
  'object',
  'file',
  'secret',
  'list',
  'map',
];
const TYPE_WORDS: readonly string[] = [...WORDS, ...FORMATS.keys()];

const FOREIGN: ReadonlyMap<string, string> = new Map([
  ['str', 'string'],
  ['int', 'integer'],
  ['long', 'integer'],
  ['float', 'number'],
  ['double', 'number'],
  ['decimal', 'number'],
  ['bool', 'boolean'],
  ['dict', 'object'],
  ['record', 'map<any>'],
  ['Record', 'map<any>'],
  ['uri', 'url'],
  ['URL', 'url'],
  ['timestamp', 'datetime'],
  ['Date', 'date'],
  ['guid', 'uuid'],
  ['blob', 'file'],
  ['unknown', 'any'],
  ['json', 'any'],
  ['enum', '[a, b]'],
  ['password', 'secret'],
]);

/** Reads one type text. Throws `NotationError` (M301 to M308). */
export function parseNotation(text: string, context: NotationContext): Notation {
  const scanner = new NotationScanner(text);
  const type = parseUnion(scanner, context, 0);
  const rawDefault = scanner.peek('--') || !scanner.take('=') ? undefined : parseDefault(scanner);
  let description: string | undefined;
  if (scanner.take('--')) {
    description = text.slice(scanner.at).trim();
    scanner.at = text.length;
  }
  scanner.skipSpace();
  if (scanner.peek('?')) {
    scanner.fail('M303', '`?` belongs to the field name', `write  name?: ${text.slice(0, scanner.at).trim()}`);
  }
  if (!scanner.done) scanner.fail('M301', `unexpected "${scanner.rest()}" after the type`);
  return {
    type,
    ...(rawDefault === undefined ? {} : { default: rawDefault }),
    ...(description === undefined ? {} : { description }),
  };
}

function parseUnion(scanner: NotationScanner, context: NotationContext, level: number): Type {
  if (level > LEVELS_MAX) scanner.fail('M301', `types nest at most ${LEVELS_MAX} levels`);
  const members = [parseMember(scanner, context, level)];
  while (scanner.take('|')) members.push(parseMember(scanner, context, level));
  return members.length === 1 && members[0] ? members[0] : unionOf(members);
}

function parseMember(scanner: NotationScanner, context: NotationContext, level: number): Type {
  let type = parseSingle(scanner, context, level);
  for (let wraps = 0; scanner.text.startsWith('[]', scanner.at); wraps++) {
    if (wraps >= LEVELS_MAX) scanner.fail('M301', `types nest at most ${LEVELS_MAX} levels`);
    scanner.at += 2;
    type = { kind: 'list', of: type, bounds: parseBounds(scanner, 'count') };
  }
  return type;
}

function parseSingle(scanner: NotationScanner, context: NotationContext, level: number): Type {
  if (scanner.take('[')) return parseChoice(scanner, context);
  if (scanner.take('{')) return parseObject(scanner, context, level);
  const start = scanner.at;
  const word = scanner.match(/[A-Za-z]\w*/y);
  if (word === undefined)
    return scanner.fail('M301', scanner.done ? 'a type is missing' : `expected a type at "${scanner.rest()}"`);
  if (word === 'list' || word === 'map' || word === 'array') {
    if (word === 'array' || !scanner.take('<')) {
      return scanner.fail(
        'M302',
        `"${word}" needs an element type`,
        `write ${word === 'map' ? 'map' : 'list'}<string>`,
        start,
      );
    }
    const of = parseUnion(scanner, context, level + 1);
    if (!scanner.take('>')) scanner.fail('M301', `"${word}<" is not closed with ">"`);
    return { kind: word, of, bounds: parseBounds(scanner, 'count') };
  }
  if (word === 'number') return { kind: word, bounds: parseBounds(scanner, 'number') };
  if (word === 'integer') return { kind: word, bounds: parseBounds(scanner, 'integer') };
  if (word === 'string' || word === 'text') {
    const bounds = parseBounds(scanner, 'count');
    const pattern = parsePattern(scanner, context);
    return {
      kind: 'string',
      bounds,
      ...(pattern === undefined ? {} : { pattern }),
      ...(word === 'text' ? { textarea: true } : {}),
    };
  }
  const format = FORMATS.get(word);
  const type: Type | undefined =
    format !== undefined
      ? { kind: 'string', format, bounds: {} }
      : PLAIN_KINDS.has(word)
        ? { kind: word as 'boolean' | 'null' | 'any' | 'file' | 'secret' }
        : word === 'object'
          ? { kind: 'open' }
          : undefined;
  if (type !== undefined) {
    if (scanner.match(/ *>?-?[\d.]*\.\./y) !== undefined)
      scanner.fail('M304', `${word} takes no range`, undefined, start);
    return type;
  }
  const definition = context.named.get(word);
  if (definition) return { kind: 'named', name: word, definition };
  const known = [...TYPE_WORDS, ...context.named.keys()];
  const near = FOREIGN.get(word) ?? nearest(word, known);
  const hint = near === undefined ? `known types: ${TYPE_WORDS.join(', ')}` : `did you mean "${near}"?`;
  return scanner.fail('M302', `unknown type "${word.slice(0, 40)}"`, hint, start);
}

function parseBounds(scanner: NotationScanner, of: 'number' | 'integer' | 'count'): Bounds {
  scanner.skipSpace();
  const start = scanner.at;
  const minExclusive = scanner.text.startsWith('>', start) && /^>-?\d/.test(scanner.text.slice(start, start + 3));
  if (minExclusive) scanner.at++;
  const min = scanner.number();
  if (!scanner.text.startsWith('..', scanner.at)) {
    scanner.at = start;
    return {};
  }
  scanner.at += 2;
  const maxExclusive = scanner.text.startsWith('<', scanner.at);
  if (maxExclusive) scanner.at++;
  const max = scanner.number();
  const fail = (message: string) => scanner.fail('M304', message, undefined, start);
  if (min === undefined && max === undefined) fail('a range needs at least one bound');
  if (minExclusive && min === undefined) fail('> needs a number');
  if (maxExclusive && max === undefined) fail('< needs a number');
  for (const bound of [min, max]) {
    if (bound === undefined) continue;
    if (!Number.isFinite(bound)) fail('a bound is too large');
    if (of !== 'number' && !Number.isSafeInteger(bound)) fail('bounds here are whole numbers');
    if (of === 'count' && (bound < 0 || minExclusive || maxExclusive))
      fail('a length is 0 or more, written as min..max');
  }
  if (min !== undefined && max !== undefined && (min > max || (min === max && (minExclusive || maxExclusive)))) {
    fail(`the range ${min}..${max} is empty`);
  }
  return {
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(minExclusive ? { minExclusive } : {}),
    ...(maxExclusive ? { maxExclusive } : {}),
  };
}

function parsePattern(scanner: NotationScanner, context: NotationContext): Pattern | undefined {
  scanner.skipSpace();
  const start = scanner.at;
  if (!scanner.text.startsWith('/', start)) return undefined;
  const literal = scanner.match(/\/(?:[^\\/]|\\.)*\//y);
  if (literal === undefined) return scanner.fail('M305', 'the pattern is not closed with /');
  // RE2 knows no escaped slash; inside /…/ it only means the slash itself.
  const pattern = literal.slice(1, -1).replace(/\\([\s\S])/g, (both, character) => (character === '/' ? '/' : both));
  try {
    return context.patterns.compile(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return scanner.fail('M305', error.message, 'patterns are RE2: no lookahead and no back-references', start);
  }
}

function parseChoice(scanner: NotationScanner, context: NotationContext): Type {
  const start = scanner.at - 1;
  const values: ScalarValue[] = [];
  while (!scanner.take(']')) {
    if (values.length > 0 && !scanner.take(',')) scanner.fail('M308', 'a choice is written [a, b]', undefined, start);
    scanner.skipSpace();
    const text = scanner.match(/"(?:[^"\\]|\\.)*"|[^,[\]{}"]+/y)?.trim();
    if (!text) return scanner.fail('M308', 'a choice is written [a, b]', undefined, start);
    values.push(readScalar(text));
  }
  const problem = choiceProblem(values, context);
  if (problem) return scanner.fail('M308', problem.message, problem.hint, start);
  return { kind: 'choice', values };
}

function parseObject(scanner: NotationScanner, context: NotationContext, level: number): Type {
  const fields = new Map<string, Field>();
  while (!scanner.take('}')) {
    if (fields.size > 0 && !scanner.take(',')) scanner.fail('M301', 'fields are separated by commas');
    scanner.skipSpace();
    const start = scanner.at;
    const name = scanner.match(/\w+/y);
    if (name === undefined || !isFieldName(name))
      return scanner.fail('M301', 'a field is written name: type', undefined, start);
    if (fields.has(name)) scanner.fail('M003', `field "${name}" is declared twice`, undefined, start);
    const optional = scanner.take('?');
    if (!scanner.take(':')) scanner.fail('M301', 'a field is written name: type', undefined, start);
    fields.set(name, { type: parseUnion(scanner, context, level + 1), optional });
  }
  return { kind: 'object', fields };
}

function parseDefault(scanner: NotationScanner): string {
  scanner.skipSpace();
  const start = scanner.at;
  // A quoted text may hold ` -- `; anything else ends before the description.
  const isQuoted = scanner.text.startsWith('"', start);
  if (isQuoted && scanner.match(/"(?:[^"\\]|\\.)*"/y) === undefined)
    scanner.fail('M307', 'the quoted default is not closed', undefined, start);
  const end = scanner.text.slice(scanner.at).search(/\s--(?:\s|$)/);
  scanner.at = end < 0 ? scanner.text.length : scanner.at + end;
  const raw = scanner.text.slice(start, scanner.at).trim();
  return raw === ''
    ? scanner.fail('M307', 'a default value is missing after =', 'write = "" for an empty text', start)
    : raw;
}

/** A choice value or a raw default as JSON where it is JSON, else as text. */
export function readScalar(text: string): ScalarValue {
  if (/^(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|".*")$/s.test(text)) {
    try {
      return JSON.parse(text) as ScalarValue;
    } catch {
      return text;
    }
  }
  return text;
}

/** Why the values are no choice, or undefined. */
export function choiceProblem(
  values: readonly unknown[],
  context: NotationContext,
): { message: string; hint?: string } | undefined {
  if (values.length === 0)
    return { message: 'a choice needs at least one value', hint: 'for example  [approve, reject]' };
  if (values.length > 200) return { message: 'a choice has at most 200 values' };
  const typeWord = values.find(
    (value) => typeof value === 'string' && (TYPE_WORDS.includes(value) || context.named.has(value)),
  );
  if (typeWord !== undefined) {
    return {
      message: `[${typeWord}] would be a choice of the fixed text "${typeWord}"`,
      hint: `write list<${typeWord}>`,
    };
  }
  if (new Set(values).size !== values.length) return { message: 'a choice is listed twice' };
  return undefined;
}
