// Owns the address of a recorded request: which parts of its path are fixed, which are ids, and what the step is called.
import { snakeName } from '../draft/names.ts';
import type { Exchange } from './read-har.ts';
import type { RecordedValues } from './recorded-values.ts';
import { queryOf } from './select-exchanges.ts';

const VERSION = /^v\d+(?:\.\d+)*$/i;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** A name such as `get_orders`, from the verb and the last two fixed parts of the path. */
export function stepNameOf({ method, url, body }: Exchange, values: RecordedValues): string {
  const query = body.kind === 'json' ? queryOf(body.value) : undefined;
  const operation = query === undefined ? undefined : /^\s*(?:query|mutation)\s+(\w+)/.exec(query)?.[1];
  if (operation !== undefined) return snakeName(operation, 'request');
  const words = segmentsOf(url).filter(
    (segment) =>
      !isId(segment) &&
      !values.isSecret(segment) &&
      !VERSION.test(segment) &&
      segment !== 'api' &&
      !values.answers.has(segment),
  );
  return snakeName(`${method} ${words.slice(-2).join(' ')}`, 'request');
}

/** The address without its query, ids replaced by insertions. */
export function addressOf({ url, place }: Exchange, values: RecordedValues, step: string): string {
  const segments = segmentsOf(url);
  const path = segments.map((segment, index) => {
    const answered = VERSION.test(segment) ? undefined : values.answers.find(segment, 'text', place, values.findings);
    if (answered !== undefined) return `\${${answered}}`;
    if (!isId(segment) && !values.isSecret(segment)) return encodeURIComponent(segment).replaceAll('${', () => '$${');
    const owner = segments[index - 1] ?? 'item';
    const name = snakeName(`${isId(owner) ? 'item' : singular(owner)}_id`, 'item_id');
    if (values.isSecret(segment)) {
      values.findings.push({
        code: 'example_left_out',
        message: `${name} looks like a token: its value is not kept`,
        place,
      });
      return `\${${values.inputWithoutExample(name, 'string').slice(1)}}`;
    }
    return `\${${(values.input(name, segment, step) ?? values.inputWithoutExample(name, 'string')).slice(1)}}`;
  });
  const slash = url.pathname.endsWith('/') && segments.length > 0 ? '/' : '';
  return `${url.origin}/${path.join('/')}${slash}`;
}

function segmentsOf(url: URL): string[] {
  return url.pathname
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => {
      try {
        return decodeURIComponent(segment);
      } catch {
        return segment; // A lone % is not an encoding; it is kept unchanged.
      }
    });
}

/** True for what names one thing among many: numbers, UUIDs, prefixed ids, addresses, long mixed words. */
function isId(segment: string): boolean {
  if (VERSION.test(segment)) return false;
  if (/^\d+$/.test(segment) || UUID.test(segment) || segment.includes('@')) return true;
  const digits = segment.replace(/\D/g, '').length;
  if (/^[A-Za-z]{1,8}[_-]\w*\d/.test(segment) || digits >= 3) return true;
  return segment.length >= 20 && /[a-z]/.test(segment) && /[A-Z]/.test(segment);
}

function singular(word: string): string {
  if (/ies$/i.test(word)) return `${word.slice(0, -3)}y`;
  return /[^s]s$/i.test(word) ? word.slice(0, -1) : word;
}
