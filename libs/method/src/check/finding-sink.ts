// Owns the findings of one check: what a person can act on, at most 20. Values never appear in them: they are content.
import type { JsonValue } from '../json.ts';
import { nearest } from '../source/did-you-mean.ts';
import { KIND } from './schema-node.ts';

/** One way a value misses its schema. `path` is a JSON Pointer (RFC 6901); `code` is the rule's name, such as `required`. */
export interface ValueFinding {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

export type MissedRule =
  | { readonly code: string; readonly message: string }
  /** The kinds allowed, as bits. */
  | { readonly code: 'type'; readonly types: number }
  | { readonly code: 'not_a_choice'; readonly values: readonly JsonValue[] }
  | { readonly code: 'format'; readonly format: string }
  /** `names` are the declared ones. */
  | { readonly code: 'unknown_field'; readonly names: readonly string[] };

type Path = readonly (string | number)[];

const FINDINGS_MAX = 20;
/** Names longer than this are cut in pointers. */
const NAME_CHARACTERS_MAX = 100;

const CHOICE_CHARACTERS_MAX = 200;
/** Twenty choices fit; names and formats of a raw schema may be as long as its source. */
const MESSAGE_CHARACTERS_MAX = 4_500;

interface Found extends ValueFinding {
  /** The kinds that were wanted, where nothing but the kind was wrong. */
  readonly types: number;
}

export class FindingSink {
  readonly #found = new Map<string, Found>();

  get full(): boolean {
    return this.#found.size >= FINDINGS_MAX;
  }

  get findings(): ValueFinding[] {
    return Array.from(this.#found.values(), ({ path, code, message }) => ({ path, code, message }));
  }

  /** An empty sink for a part of the check. */
  apart(): FindingSink {
    return new FindingSink();
  }

  add(rule: MissedRule, at: Path): void {
    if (this.full) return;
    const path = pointer(at);
    if ('types' in rule) this.#put({ path, code: 'type', message: typeMessage(rule.types), types: rule.types });
    else this.#put({ path, code: rule.code, message: cut(messageOf(rule, at), MESSAGE_CHARACTERS_MAX), types: 0 });
  }

  /** The findings of the branches of a union at `at`. */
  addUnion(branches: FindingSink, at: Path): void {
    const path = pointer(at);
    let types = 0;
    let clear = false;
    for (const found of branches.#found.values()) {
      if (found.path === path && found.types !== 0) types |= found.types;
      else clear = true;
    }
    if (clear || types === 0) {
      for (const found of branches.#found.values()) if (found.path !== path || found.types === 0) this.#put(found);
    } else this.#put({ path, code: 'type', message: typeMessage(types), types });
  }

  /** One for each place and rule. */
  #put(found: Found): void {
    const key = `${found.path}\n${found.code}`;
    const known = this.#found.get(key);
    if (known === undefined) {
      if (!this.full) this.#found.set(key, found);
      return;
    }
    const types = known.types | found.types;
    if (types !== known.types && known.types !== 0)
      this.#found.set(key, { ...known, types, message: typeMessage(types) });
  }
}

function messageOf(rule: Exclude<MissedRule, { types: number }>, at: Path): string {
  if ('message' in rule) return rule.message;
  if ('values' in rule) return `must be one of ${listed(rule.values)}`;
  if ('format' in rule) return `must be ${FORMAT_WORDS.get(rule.format) ?? rule.format}`;
  const near = nearest(String(at.at(-1)), rule.names);
  return near === undefined ? 'is not a known field' : `is not a known field; did you mean "${near}"?`;
}

const TYPE_WORDS: readonly (readonly [number, string])[] = [
  [KIND.string, 'text'],
  [KIND.number, 'a number'],
  [KIND.integer, 'a whole number'],
  [KIND.boolean, 'true or false'],
  [KIND.array, 'a list'],
  [KIND.object, 'an object'],
  [KIND.null, 'null'],
];

function typeMessage(types: number): string {
  return `must be ${TYPE_WORDS.flatMap(([bit, word]) => ((types & bit) === 0 ? [] : [word])).join(' or ')}`;
}

const FORMAT_WORDS: ReadonlyMap<string, string> = new Map([
  ['date', 'a date such as 2026-01-31'],
  ['date-time', 'a date and time such as 2026-01-31T12:00:00Z'],
  ['time', 'a time such as 12:00:00Z'],
  ['email', 'an e-mail address'],
  ['uri', 'a URL'],
  ['uuid', 'a UUID'],
]);

function pointer(at: Path): string {
  let text = '';
  for (const part of at) {
    text +=
      typeof part === 'number'
        ? `/${part}`
        : `/${part.slice(0, NAME_CHARACTERS_MAX).replaceAll('~', '~0').replaceAll('/', '~1')}`;
  }
  return text;
}

function listed(values: readonly JsonValue[]): string {
  const shown = values.slice(0, 20).map((value) => cut(JSON.stringify(value), CHOICE_CHARACTERS_MAX));
  return `${shown.join(', ')}${values.length > 20 ? ', …' : ''}`;
}

function cut(text: string, charactersMax: number): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}
