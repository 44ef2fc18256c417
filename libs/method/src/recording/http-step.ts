// Owns one recorded request as an http step.
import { literalText } from '../draft/method-text.ts';
import { snakeName } from '../draft/names.ts';
import { isJsonObject, type JsonObject, type JsonValue, nestsDeeperThan, objectOf } from '../json.ts';
import { addressOf } from './http-address.ts';
import type { Exchange } from './read-har.ts';
import type { RecordedValues } from './recorded-values.ts';
import { holdsSecret, namesSecret } from './secret-words.ts';
import { queryOf, type SelectedExchange, siteOf } from './select-exchanges.ts';

export interface HttpDraft {
  readonly name: string;
  readonly http: JsonObject;
  readonly status: number | null;
  readonly exchange: SelectedExchange;
}

const BODY_LEVELS_MAX = 20;
const BODY_CHARACTERS_MAX = 65_536;
// Parameters that say how much of a list is wanted and how it looks, not which thing it is about.
const FIXED_QUERY =
  /^(?:page|page_?size|per_page|limit|offset|size|sort|sort_by|order|order_by|fields|include|expand|format|locale|lang|view)$/i;
const CACHE_QUERY = /^(?:_|t|ts|cb|nocache|cachebuster)$/i;

/** Reads the request; what it sends is taken from `values`. */
export function httpDraft(exchange: SelectedExchange, name: string, values: RecordedValues): HttpDraft {
  const address = addressOf(exchange, values, name);
  const { auth, headers } = recordedHeaders(exchange, values, name);
  const fields: (readonly [string, JsonValue])[] = [[exchange.method.toLowerCase(), address]];
  const query = namedValues(
    [...exchange.url.searchParams].filter(isQueryKept),
    name,
    exchange.place,
    values,
    FIXED_QUERY,
  );
  if (query !== null) fields.push(['query', query]);
  if (Object.keys(headers).length > 0) fields.push(['headers', headers]);
  if (auth !== null) fields.push(['auth', auth]);
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') fields.push(...bodyOf(exchange, name, values));
  return { name, http: objectOf(fields), status: exchange.finalStatus, exchange };
}

function isQueryKept([key, value]: readonly [string, string]): boolean {
  return !(CACHE_QUERY.test(key) && /^[\d.]{8,}$/.test(value));
}

/** Names with values; a repeated name has a list. */
function namedValues(
  pairs: readonly (readonly [string, string])[],
  step: string,
  place: string,
  values: RecordedValues,
  fixed: RegExp | null,
): JsonObject | null {
  const all = new Map<string, JsonValue[]>();
  for (const [key, value] of pairs) {
    const written =
      fixed?.test(key) && !values.answers.has(value) && !values.isSecret(value)
        ? literalText(value)
        : values.leaf(key, value, step, place);
    const before = all.get(key);
    if (before) before.push(written);
    else all.set(key, [written]);
  }
  if (all.size === 0) return null;
  return objectOf(Array.from(all, ([key, list]) => [key, list.length === 1 && list[0] !== undefined ? list[0] : list]));
}

function bodyOf(exchange: SelectedExchange, step: string, values: RecordedValues): (readonly [string, JsonValue])[] {
  const { body, place } = exchange;
  switch (body.kind) {
    case 'none':
      return [];
    case 'json':
      if (nestsDeeperThan(body.value, BODY_LEVELS_MAX) || JSON.stringify(body.value).length > BODY_CHARACTERS_MAX) {
        values.findings.push({
          code: 'example_left_out',
          message: `the body of ${step} is too large or nested too deeply: give it whole`,
          place,
        });
        return [['json', values.inputWithoutExample(snakeName(`${step}_body`, 'body'), 'any')]];
      }
      return [['json', jsonBody(body.value, step, place, values)]];
    case 'form': {
      const form = namedValues(body.fields, step, place, values, null);
      return form === null ? [] : [['form', form]];
    }
    case 'text':
      values.findings.push({
        code: 'example_left_out',
        message: `the body of ${step} is text of its own form: give it as an input`,
        place,
      });
      return [['text', values.inputWithoutExample(snakeName(`${step}_body`, 'body'), 'text')]];
    case 'upload':
      values.findings.push({
        code: 'upload',
        message: `${step} uploaded files in a form; the draft sends no body`,
        place,
      });
      return [];
  }
}

/** The query of a GraphQL request is code, and stays; its variables are values. */
function jsonBody(value: JsonValue, step: string, place: string, values: RecordedValues): JsonValue {
  const query = queryOf(value);
  if (query === undefined || !isJsonObject(value)) return values.body('body', value, step, place);
  return objectOf(
    Object.entries(value).map(([key, item]): readonly [string, JsonValue] => {
      if (key === 'query' && holdsSecret(query)) {
        values.findings.push({
          code: 'credential',
          message: `the query of ${step} holds a credential: it is not kept`,
          place,
        });
        return [key, values.inputWithoutExample(snakeName(`${step}_query`, 'query'), 'text')];
      }
      if (key === 'query') return [key, literalText(query)];
      if (key === 'operationName' && typeof item === 'string') return [key, literalText(item)];
      return [key, values.body(key, item, step, place)];
    }),
  );
}

interface RecordedHeaders {
  readonly auth: JsonObject | null;
  readonly headers: JsonObject;
}

// Written by the browser or by its tools, never by the site's own code.
const NOISE =
  /^x-(?:client-data|forwarded|real-ip|b3-|datadog|newrelic|amzn-trace|request-id|correlation-id|trace|devtools|chrome|requested-with)|^x-(?:goog|firefox)/;
const CREDENTIAL_HEADER =
  /^(?:x-api-key|api-key|apikey|x-auth-token|x-access-token|x-session-token|proxy-authorization)$/;
const SECRET_HEADER = /session|auth|key|sign|token|secret/;
const HEADERS_MAX = 20;
const VALUE_CHARACTERS_MAX = 500;

/** Credentials in recorded headers become `auth` with declared secrets, and are never stored. */
function recordedHeaders(exchange: Exchange, values: RecordedValues, step: string): RecordedHeaders {
  const { url, place } = exchange;
  const owner = snakeName(siteOf(url.hostname).split('.')[0] ?? '', 'site').toUpperCase();
  let auth: JsonObject | null = null;
  const headers: (readonly [string, JsonValue])[] = [];
  const credential = (name: string, secret: string, note: string) => {
    const declared = values.sharedSecret(secret, note);
    if (auth === null) auth = { header: name, secret: declared };
    else headers.push([name, `=secrets.${declared}`]);
  };
  if (url.username !== '' || url.password !== '') auth = basic(owner, values, url.hostname);
  for (const [name, value] of exchange.headers) {
    const custom = titled(name);
    if (name === 'authorization') {
      const scheme = value.split(' ', 1)[0] ?? '';
      if (/^bearer$/i.test(scheme))
        auth ??= { bearer: values.sharedSecret(`${owner}_TOKEN`, `Sent as Bearer to ${url.hostname}`) };
      else if (/^basic$/i.test(scheme)) auth ??= basic(owner, values, url.hostname);
      else credential('Authorization', `${owner}_AUTHORIZATION`, `The whole Authorization header of ${url.hostname}`);
    } else if (CREDENTIAL_HEADER.test(name)) {
      credential(
        custom,
        `${owner}_${snakeName(name.replace(/^x-/, ''), 'key').toUpperCase()}`,
        `Sent as ${custom} to ${url.hostname}`,
      );
    } else if (name.startsWith('x-') && !NOISE.test(name) && headers.length < HEADERS_MAX) {
      if (value.length > VALUE_CHARACTERS_MAX || value === '') continue;
      const isSecret = SECRET_HEADER.test(name) || namesSecret(snakeName(name, 'x')) || values.isSecret(value);
      const written = isSecret
        ? values.leaf(`${name}-token`, value, step, place)
        : (fromAnswer(value, values, place) ?? plain(value));
      if (written !== null && /^[\w-]{1,100}$/.test(name)) headers.push([custom, written]);
    }
  }
  return { auth, headers: objectOf(headers) };
}

function basic(owner: string, values: RecordedValues, host: string): JsonObject {
  return {
    basic: [
      values.sharedSecret(`${owner}_USER`, `User at ${host}`),
      values.sharedSecret(`${owner}_PASSWORD`, `Password at ${host}`),
    ],
  };
}

function fromAnswer(value: string, values: RecordedValues, place: string): string | undefined {
  const found = values.answers.find(value, 'value', place, values.findings);
  return found === undefined ? undefined : `=${found}`;
}

/** Null for what could be read as more than a text. */
function plain(value: string): string | null {
  return value.startsWith('=') || value.includes('${') ? null : value;
}

function titled(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
