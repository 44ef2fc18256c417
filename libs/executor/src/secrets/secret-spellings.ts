// The forms in which a secret turns up in texts. Encoders of the wild change secrets on the way: a header is base64,
// a URL is percent-encoded, a JSON log escapes quotes (each of these leaked through masks that knew only the value).

/** Parts of a structured secret shorter than this would mask ordinary words. */
const PART_CHARACTERS_MIN = 6;

/** All spellings of one secret's value, the value included, without duplicates. */
export function spellingsOf(value: string): Set<string> {
  const spellings = new Set<string>();
  for (const part of [value, ...linesOf(value), ...jsonMembersOf(value)]) {
    for (const spelling of encodingsOf(part)) spellings.add(spelling);
  }
  return spellings;
}

function* encodingsOf(part: string): Generator<string> {
  yield part;
  const escaped = JSON.stringify(part).slice(1, -1);
  yield escaped;
  yield JSON.stringify(escaped).slice(1, -1);
  // Printed objects: python and node quote with whichever mark needs no escape, so the other one stays as it is.
  yield escaped.replaceAll('\\"', '"');
  yield escaped.replaceAll('\\"', '"').replaceAll("'", "\\'");
  // Python and PHP leave nothing but ASCII; PHP escapes slashes too.
  const ascii = escaped.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  yield ascii;
  yield escaped.replaceAll('/', '\\/');
  yield ascii.replaceAll('/', '\\/');
  const url = encodeURIComponent(part);
  const strict = url.replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  for (const encoded of [url, strict]) {
    // Python leaves slashes as they are.
    for (const whole of [encoded, encoded.replaceAll('%2F', '/')]) {
      yield whole;
      yield whole.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase());
      yield whole.replaceAll('%20', '+');
    }
  }
  yield encodeURI(part);
  yield new URLSearchParams({ a: part }).toString().slice(2);
  yield part.replace(/[&<>"']/g, (character) => HTML_ENTITIES[character] ?? character);
  const bytes = Buffer.from(part);
  yield bytes.toString('hex');
  yield bytes.toString('hex').toUpperCase();
  yield* base64Of(bytes);
}

const HTML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Base64 of the secret inside a longer text depends on its offset modulo 3. Characters that also depend on the
 * neighbours are left out, so that each spelling is found whatever stands around it.
 */
function* base64Of(bytes: Buffer): Generator<string> {
  yield bytes.toString('base64');
  for (let offset = 0; offset < 3; offset++) {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const first = offset === 0 ? 0 : offset + 1;
    const last = (offset + bytes.length) % 3 === 0 ? shifted.length : shifted.length - 1;
    const inner = shifted.slice(first, last);
    if (inner.length < PART_CHARACTERS_MIN) continue;
    yield inner;
    yield inner.replaceAll('+', '-').replaceAll('/', '_');
  }
}

/** A key file is often printed line by line. */
function linesOf(value: string): string[] {
  if (!/[\r\n]/.test(value)) return [];
  return value
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line.length >= PART_CHARACTERS_MIN);
}

/** The texts inside a secret that is itself JSON, such as a service account's key. */
function jsonMembersOf(value: string): string[] {
  if (!/^\s*[[{]/.test(value)) return [];
  try {
    return textsIn(JSON.parse(value)).filter((text) => text.length >= PART_CHARACTERS_MIN);
  } catch {
    return [];
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value, ...linesOf(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
