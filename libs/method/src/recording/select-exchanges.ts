// Owns which exchanges of a recording matter: those of the first page's site that fetch or change something, each once.
import type { JsonValue } from '../json.ts';
import type { Exchange } from './read-har.ts';
import type { RecordingFinding } from './recording-finding.ts';
import { shownPath } from './secret-words.ts';

export interface SelectedExchange extends Exchange {
  /** The JSON answers of it and of its repeats. */
  readonly answers: JsonValue[];
  /** The status a run will see: of the page a redirect led to. Null when the recording does not have it. */
  readonly finalStatus: number | null;
}

const ASSET_TYPES = new Set(
  'stylesheet script image font media manifest texttrack websocket ping preflight eventsource'.split(' '),
);
const ASSET = /^(?:image|font|audio|video)\/|css|javascript|ecmascript|wasm|octet-stream|manifest/;
const ASSET_FILE = /\.(?:js|mjs|css|map|png|jpe?g|gif|svg|webp|avif|ico|woff2?|ttf|otf|eot|mp4|webm|mp3)$/i;
const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']);
const HOSTS_TOLD_MAX = 20;
const REDIRECTS_MAX = 5;

/** `firstPage` is the id of the recording's first page, empty when it has none. */
export function selectExchanges(
  exchanges: readonly Exchange[],
  firstPage: string,
): { readonly selected: SelectedExchange[]; readonly findings: RecordingFinding[] } {
  const first = exchanges.find(({ page }) => firstPage !== '' && page === firstPage) ?? exchanges[0];
  const site = first ? siteOf(first.url.hostname) : '';
  const findings: RecordingFinding[] = [];
  const otherHosts = new Map<string, number>();
  const selected: SelectedExchange[] = [];
  /** Reads since the last change, by what they ask for. */
  const reads = new Map<string, SelectedExchange>();
  const repeats = new Map<SelectedExchange, number>();
  for (const exchange of exchanges) {
    const { hostname } = exchange.url;
    if (siteOf(hostname) !== site) {
      otherHosts.set(hostname, (otherHosts.get(hostname) ?? 0) + 1);
      continue;
    }
    if (!METHODS.has(exchange.method) || isAsset(exchange)) continue;
    const isRead = exchange.method === 'GET' || exchange.method === 'HEAD' || isQuery(exchange);
    if (exchange.status === 0 || exchange.status >= 400) {
      const how = exchange.status === 0 ? 'was not answered' : `was answered ${exchange.status}`;
      findings.push({
        code: 'failed_request',
        message: `left out ${exchange.method} ${shownPath(exchange.url)}: it ${how}`,
        place: exchange.place,
      });
      continue;
    }
    // The page a redirected read led to has an entry of its own.
    if (isRead && exchange.status >= 300 && exchange.status !== 304) continue;
    const key = isRead ? `${exchange.method} ${exchange.url.href} ${JSON.stringify(bodyKey(exchange))}` : '';
    const before = isRead ? reads.get(key) : undefined;
    if (before) {
      if (exchange.answer !== undefined) before.answers.push(exchange.answer);
      repeats.set(before, (repeats.get(before) ?? 0) + 1);
      continue;
    }
    const answers = exchange.answer === undefined ? [] : [exchange.answer];
    const kept = { ...exchange, answers, finalStatus: finalStatus(exchange, exchanges) };
    selected.push(kept);
    if (isRead) reads.set(key, kept);
    else reads.clear();
  }
  for (const [exchange, count] of repeats) {
    findings.push({
      code: 'repeated_request',
      message: `${exchange.method} ${shownPath(exchange.url)} was repeated ${count} times: kept once; use retry or repeat to poll`,
      place: exchange.place,
    });
  }
  for (const [host, count] of [...otherHosts].slice(0, HOSTS_TOLD_MAX)) {
    findings.push({ code: 'other_site', message: `left out ${count} to ${host}: another site`, place: '' });
  }
  return { selected, findings };
}

/** The part of a host name that one owner registers; addresses are kept whole. */
export function siteOf(host: string): string {
  if (/^[\d.]+$|^\[/.test(host)) return host;
  const labels = host.toLowerCase().split('.');
  // co.uk, com.au and the like: short words that no one can own below a country.
  const isCountry = /^(?:co|com|net|org|gov|ac|edu|or|ne|go)$/.test(labels.at(-2) ?? '') && labels.at(-1)?.length === 2;
  return labels.slice(isCountry ? -3 : -2).join('.');
}

function isAsset({ resourceType, mediaType, method, url }: Exchange): boolean {
  if (ASSET_TYPES.has(resourceType)) return true;
  if (method !== 'GET') return false;
  if (resourceType === 'document' || ASSET_FILE.test(url.pathname)) return true;
  return ASSET.test(mediaType) || mediaType === 'text/html' || mediaType === 'application/xhtml+xml';
}

/** A GraphQL query: sent by POST, but it only reads. */
function isQuery({ body, method }: Exchange): boolean {
  if (method !== 'POST' || body.kind !== 'json') return false;
  const query = queryOf(body.value);
  return query !== undefined && !/^\s*(?:mutation|subscription)\b/.test(query);
}

/** The text of a GraphQL request. */
export function queryOf(value: JsonValue): string | undefined {
  if (typeof value !== 'object' || value === null || !('query' in value)) return undefined;
  const { query } = value;
  return typeof query === 'string' && /\{[\s\S]*\}/.test(query.slice(0, 10_000)) ? query : undefined;
}

function bodyKey({ body }: Exchange): string {
  if (body.kind === 'json' && typeof body.value === 'object' && body.value !== null) {
    const variables = 'variables' in body.value ? body.value.variables : null;
    try {
      return `${queryOf(body.value) ?? ''} ${JSON.stringify(variables)}`;
    } catch {
      return ''; // Nested too deeply to be written.
    }
  }
  return '';
}

/** Redirects are followed in a run; the recording has an entry for each hop. */
function finalStatus(exchange: Exchange, all: readonly Exchange[]): number | null {
  let current = exchange;
  for (let hops = 0; hops < REDIRECTS_MAX && current.status >= 300 && current.status !== 304; hops++) {
    const target = URL.canParse(current.redirectUrl, current.url.href)
      ? new URL(current.redirectUrl, current.url.href).href
      : undefined;
    const next = all.indexOf(current) + 1;
    const found = all.slice(next, next + 50).find(({ url }) => url.href === target);
    if (!found) return null;
    current = found;
  }
  if (current.status === 304) return 200;
  return current.status >= 200 && current.status < 300 ? current.status : null;
}
