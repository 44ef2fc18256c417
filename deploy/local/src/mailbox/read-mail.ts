// Reads the parts of a mail that a page of the development mailbox shows: its headers, its plain text and its HTML.

export interface ReadMail {
  readonly subject: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  /** Empty: it has none. */
  readonly html: string;
}

type Headers = ReadonlyMap<string, string>;

/** Parts inside of parts; deeper ones are not shown. */
const LEVELS_MAX = 4;

export function readMail(raw: string): ReadMail {
  const { headers, body } = split(raw);
  const parts = [...leaves(headers, body, 0)];
  const find = (kind: string) => parts.find((part) => part.kind === kind)?.text ?? '';
  const header = (name: string) => decodedWords(headers.get(name) ?? '');
  return {
    subject: header('subject'),
    from: header('from'),
    to: header('to'),
    text: find('text/plain'),
    html: find('text/html'),
  };
}

function split(raw: string): { headers: Headers; body: string } {
  const end = raw.indexOf('\r\n\r\n');
  const head = end === -1 ? raw : raw.slice(0, end);
  const headers = new Map<string, string>();
  // A line that begins with white space continues the one before.
  for (const line of head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return { headers, body: end === -1 ? '' : raw.slice(end + 4) };
}

function* leaves(headers: Headers, body: string, level: number): Generator<{ kind: string; text: string }> {
  const type = headers.get('content-type') ?? 'text/plain';
  const boundary = /boundary="?([^";]+)"?/i.exec(type)?.[1];
  if (boundary === undefined) {
    const kind = type.split(';')[0]?.trim().toLowerCase() ?? '';
    yield { kind, text: decoded(body, headers.get('content-transfer-encoding') ?? '') };
    return;
  }
  if (level >= LEVELS_MAX) return;
  const pieces = `\r\n${body}`.split(`\r\n--${boundary}`).slice(1);
  for (const piece of pieces) {
    if (piece.startsWith('--')) return;
    const part = split(piece.replace(/^[ \t]*\r\n/, ''));
    yield* leaves(part.headers, part.body, level + 1);
  }
}

function decoded(body: string, encoding: string): string {
  switch (encoding.toLowerCase()) {
    case 'base64':
      return Buffer.from(body, 'base64').toString('utf8');
    case 'quoted-printable':
      return fromHex(body.replace(/=[ \t]*\r\n/g, ''));
    default:
      return Buffer.from(body, 'latin1').toString('utf8');
  }
}

/** `=C3=A9` is é; the rest of the text has one byte a character. */
function fromHex(text: string): string {
  const bytes = text.replace(/=([0-9A-Fa-f]{2})/g, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** `=?UTF-8?Q?...?=` and `=?UTF-8?B?...?=` (RFC 2047). */
function decodedWords(header: string): string {
  const joined = header.replace(/\?=\s+=\?/g, '?==?');
  return joined.replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_all, kind: string, text: string) =>
    kind.toLowerCase() === 'b' ? Buffer.from(text, 'base64').toString('utf8') : fromHex(text.replaceAll('_', ' ')),
  );
}
