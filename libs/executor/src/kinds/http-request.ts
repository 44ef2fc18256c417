// Builds the request of an http step. Values become parts of a request by encoding, never by concatenation.
import { Readable } from 'node:stream';
import type { HttpAuth, HttpStep } from '@methods/method/compiled-method';
import { evaluate, type Scope } from '@methods/method/evaluate';
import { isJsonList, isJsonObject, type JsonValue } from '@methods/method/json';
import type { RunFolder } from '../run-folder.ts';
import { StepFailure } from '../step-failure.ts';

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  /** Lower-case names of headers that must not go to another origin. */
  readonly credentialHeaders: ReadonlySet<string>;
  readonly body: HttpRequestBody | null;
}

export type HttpRequestBody =
  | { readonly kind: 'text'; readonly text: string }
  /** Opened again for each sending. */
  | { readonly kind: 'file'; readonly open: () => ReadableStream };

/** `key`: the step's stable key, sent with POST and PATCH as `Idempotency-Key` unless the step sets that header. */
export async function buildRequest(step: HttpStep, scope: Scope, key: string, folder: RunFolder): Promise<HttpRequest> {
  const url = urlOf(evaluate(step.url, scope));
  for (const [name, value] of step.query === null ? [] : pairsOf(evaluate(step.query, scope))) {
    url.searchParams.append(name, value);
  }
  const headers = new Headers({ accept: 'application/json, */*;q=0.5', 'user-agent': 'methods' });
  if (step.verb === 'post' || step.verb === 'patch') headers.set('idempotency-key', key);
  const body = await bodyOf(step, scope, folder, headers);
  const credentialHeaders = new Set(['authorization', 'cookie', 'proxy-authorization']);
  if (step.auth !== null) credentialHeaders.add(setAuth(headers, step.auth, scope));
  if (step.headers !== null) setHeaders(headers, evaluate(step.headers, scope));
  return { method: step.verb.toUpperCase(), url, headers, credentialHeaders, body };
}

/** Only http and https, and no user name in the URL: it would be sent as an undeclared credential. */
export function urlOf(value: JsonValue, base?: URL): URL {
  const url = typeof value === 'string' && URL.canParse(value, base?.href) ? new URL(value, base?.href) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new StepFailure('http', 'The URL is not an absolute http or https URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw new StepFailure('http', 'The URL holds a user name or a password; use auth');
  }
  return url;
}

async function bodyOf(
  step: HttpStep,
  scope: Scope,
  folder: RunFolder,
  headers: Headers,
): Promise<HttpRequestBody | null> {
  const { body } = step;
  if (body.kind === 'none') return null;
  const value = evaluate(body.value, scope);
  switch (body.kind) {
    case 'json':
      headers.set('content-type', 'application/json');
      return { kind: 'text', text: JSON.stringify(value) };
    case 'form':
      headers.set('content-type', 'application/x-www-form-urlencoded');
      return { kind: 'text', text: new URLSearchParams(pairsOf(value)).toString() };
    case 'text':
      headers.set('content-type', 'text/plain; charset=utf-8');
      return { kind: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) };
    case 'file': {
      if (!folder.has(value)) throw new StepFailure('http', 'The body is not a file of the run');
      const opened = () =>
        folder.openFile(value).catch((error: unknown) => {
          if (error instanceof StepFailure) throw error;
          throw new StepFailure('input', 'A file of an earlier step is not in the run folder');
        });
      await (await opened()).close();
      headers.set('content-type', value.media_type);
      headers.set('content-length', String(value.bytes));
      // Opened when the first piece is read, so that a request that is never sent holds no file.
      const pieces = async function* () {
        yield* (await opened()).createReadStream();
      };
      return { kind: 'file', open: () => Readable.toWeb(Readable.from(pieces())) as ReadableStream };
    }
  }
}

function setAuth(headers: Headers, auth: HttpAuth, scope: Scope): string {
  const text = (value: Parameters<typeof evaluate>[0]) => String(evaluate(value, scope));
  switch (auth.kind) {
    case 'bearer':
      setHeader(headers, 'authorization', `Bearer ${text(auth.token)}`);
      return 'authorization';
    case 'basic': {
      const pair = Buffer.from(`${text(auth.user)}:${text(auth.password)}`).toString('base64');
      setHeader(headers, 'authorization', `Basic ${pair}`);
      return 'authorization';
    }
    case 'header':
      setHeader(headers, auth.header, text(auth.secret));
      return auth.header.toLowerCase();
  }
}

/** A null removes the header, even our own. */
function setHeaders(headers: Headers, values: JsonValue): void {
  if (!isJsonObject(values)) return;
  for (const [name, value] of Object.entries(values)) {
    if (value === null) headers.delete(name);
    else setHeader(headers, name, scalarText(value));
  }
}

function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    throw new StepFailure('http', 'A header has a name or a value that HTTP does not allow');
  }
}

/** Returns names and values for a query or a form: null is left out, a list repeats the name. */
function pairsOf(values: JsonValue): [string, string][] {
  if (!isJsonObject(values)) return [];
  return Object.entries(values).flatMap(([name, value]) => {
    const items = isJsonList(value) ? value : [value];
    return items.filter((item) => item !== null).map((item): [string, string] => [name, scalarText(item)]);
  });
}

function scalarText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
