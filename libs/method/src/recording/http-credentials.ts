// Owns credentials in recorded headers: they become `auth` with declared secrets, and are never stored.
import { snakeName } from '../draft/names.ts';
import { type JsonObject, type JsonValue, objectOf } from '../json.ts';
import type { Exchange } from './read-har.ts';
import type { RecordedValues } from './recorded-values.ts';
import { namesSecret } from './secret-words.ts';
import { siteOf } from './select-exchanges.ts';

export interface RecordedHeaders {
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

export function recordedHeaders(exchange: Exchange, values: RecordedValues, step: string): RecordedHeaders {
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
