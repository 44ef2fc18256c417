// Owns reading HAR 1.2: one entry becomes one exchange. Entries of an unusable form are left out and never crash.

import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  nestsDeeperThan,
  objectOf,
  ownField,
} from '../json.ts';
import { isStorable } from '../source/source-text.ts';
import { textOfBase64 } from '../utf8-bytes.ts';

export interface Exchange {
  /** Such as `log.entries[3]`. */
  readonly place: string;
  readonly method: string;
  readonly url: URL;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: ExchangeBody;
  readonly status: number;
  /** Of the answer, lower case, without parameters. */
  readonly mediaType: string;
  /** Chrome's own word for it, such as `script`; empty elsewhere. */
  readonly resourceType: string;
  /** The answer's JSON; undefined when it is none. */
  readonly answer: JsonValue | undefined;
  /** Where a redirect points to. */
  readonly redirectUrl: string;
  readonly page: string;
}

export type ExchangeBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: JsonValue }
  | { readonly kind: 'form'; readonly fields: readonly (readonly [name: string, value: string])[] }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'upload' };

const LEVELS_MAX = 20;

export function readExchange(entry: JsonValue, index: number): Exchange | undefined {
  const request = objectAt(entry, 'request');
  const response = objectAt(entry, 'response');
  const address = textAt(request, 'url');
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return undefined;
  const content = objectAt(response, 'content');
  const status = ownField(response, 'status');
  return {
    place: `log.entries[${index}]`,
    method: textAt(request, 'method').toUpperCase(),
    url: new URL(address),
    headers: new Map(pairsAt(request, 'headers').map(([name, value]) => [name.toLowerCase(), value])),
    body: readBody(objectAt(request, 'postData')),
    status: typeof status === 'number' ? status : 0,
    mediaType: mediaType(textAt(content, 'mimeType')),
    resourceType: isJsonObject(entry) ? textAt(entry, '_resourceType').toLowerCase() : '',
    answer: readAnswer(content),
    redirectUrl: textAt(response, 'redirectURL'),
    page: isJsonObject(entry) ? textAt(entry, 'pageref') : '',
  };
}

function readBody(data: JsonObject): ExchangeBody {
  const text = textAt(data, 'text');
  const type = mediaType(textAt(data, 'mimeType'));
  const params = pairsAt(data, 'params');
  if (type.startsWith('multipart/')) return { kind: 'upload' };
  if (type === 'application/x-www-form-urlencoded') {
    // Chrome leaves `params` percent-encoded; the text is the same in every browser.
    return { kind: 'form', fields: text === '' ? params : [...new URLSearchParams(text)] };
  }
  if (text === '') return params.length > 0 ? { kind: 'form', fields: params } : { kind: 'none' };
  const value = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  return value === undefined ? { kind: 'text', text } : { kind: 'json', value };
}

function readAnswer(content: JsonObject): JsonValue | undefined {
  const text = textAt(content, 'text');
  if (text === '') return undefined;
  const plain = textAt(content, 'encoding') === 'base64' ? textOfBase64(text) : text;
  const value = /^\s*[[{]/.test(plain) ? parseJson(plain) : undefined;
  return value === undefined || nestsDeeperThan(value, LEVELS_MAX) ? undefined : value;
}

/**
 * Undefined for text that is not JSON. Characters that no source can hold are replaced, so that a draft can be made.
 */
export function parseJson(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return MAY_WRITE_UNSTORABLE.test(text) || !isStorable(text) ? storable(value) : value;
  } catch {
    return undefined;
  }
}

const MAY_WRITE_UNSTORABLE = /\\u(?:0000|d[89a-f])/i;

function storable(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.replace(/[\0\p{Surrogate}]/gu, '\uFFFD');
  if (isJsonList(value)) return value.map(storable);
  if (!isJsonObject(value)) return value;
  return objectOf(Object.entries(value).map(([name, item]) => [String(storable(name)), storable(item)] as const));
}

/** The object in a field, or an empty one. */
export function objectAt(value: JsonValue | undefined, name: string): JsonObject {
  const field = isJsonObject(value) ? ownField(value, name) : undefined;
  return isJsonObject(field) ? field : {};
}

/** The text in a field, or an empty one. */
export function textAt(object: JsonObject, name: string): string {
  const field = ownField(object, name);
  return typeof field === 'string' ? field : '';
}

/** The list in a field, or an empty one. */
export function listAt(object: JsonObject, name: string): readonly JsonValue[] {
  const field = ownField(object, name);
  return isJsonList(field) ? field : [];
}

/** HAR's `[{ name, value }]`. */
function pairsAt(object: JsonObject, name: string): [string, string][] {
  return listAt(object, name).flatMap((pair): [string, string][] =>
    isJsonObject(pair) && textAt(pair, 'name') !== '' ? [[textAt(pair, 'name'), textAt(pair, 'value')]] : [],
  );
}

function mediaType(text: string): string {
  return text.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
