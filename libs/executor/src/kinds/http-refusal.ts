// The parts of a failed http answer that a step keeps: its reason, the headers that explain it, and the beginning of
// its body. They are masked and bounded here, since they are part of the error.
import { cutText } from '@methods/method/cut-text';
import { type JsonObject, objectOf } from '@methods/method/json';
import type { Mask } from '../secrets/mask.ts';

/** Never set-cookie, authorization and the like: more people see an error than an answer. */
const HEADERS = [
  ...['content-type', 'retry-after', 'www-authenticate', 'location', 'allow', 'x-request-id', 'request-id'],
  ...[
    'x-correlation-id',
    'x-amzn-requestid',
    'x-github-request-id',
    'cf-ray',
    'ratelimit-limit',
    'ratelimit-remaining',
  ],
  ...['ratelimit-reset', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
];
const HEADER_CHARACTERS_MAX = 200;
const REASON_CHARACTERS_MAX = 100;
const BODY_BYTES_MAX = 1024;
/** More than is kept, so that a secret at the end of the kept text is read completely. */
const BODY_BYTES_READ = 16 * 1024;
/** The status has already failed the step: a body that does not arrive is not awaited. */
const BODY_MS_MAX = 1000;

export interface HttpRefusal {
  readonly reason: string;
  readonly headers: JsonObject;
  /** Text, or `(binary, 512 bytes)`. */
  readonly body: string;
}

/** Reads the kept part of the body, and ends it. Never rejects. */
export async function refusalOf(response: Response, mask: Mask): Promise<HttpRefusal> {
  const shown = (text: string, charactersMax: number) => cutText(mask.text(asWritten(text)), charactersMax);
  const headers = HEADERS.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, shown(value, HEADER_CHARACTERS_MAX)] as const];
  });
  const reader = response.body?.getReader();
  // The machine's clock, not the run's: it bounds a connection, and is not a pause of the run.
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    void reader?.cancel().catch(() => {});
  }, BODY_MS_MAX);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let ended = false;
  try {
    while (reader !== undefined && bytes <= BODY_BYTES_READ) {
      const { done, value } = await reader.read();
      if (done) {
        // A body that was given up may have ended in the middle of a secret.
        ended = !late;
        break;
      }
      bytes += chunks.push(value) && value.length;
    }
  } catch {
    // Data before the connection broke is kept.
  } finally {
    clearTimeout(timer);
    await reader?.cancel().catch(() => {});
  }
  const read = Buffer.concat(chunks).subarray(0, BODY_BYTES_READ);
  const body = bodyText(read, ended && bytes <= BODY_BYTES_READ, mask);
  return { reason: shown(response.statusText, REASON_CHARACTERS_MAX), headers: objectOf(headers), body };
}

/** Header bytes are read as Latin-1; most servers that send others mean UTF-8. */
function asWritten(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return text;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1'));
  } catch {
    return text;
  }
}

function bodyText(bytes: Buffer, whole: boolean, mask: Mask): string {
  let text: string;
  try {
    // Text that is cut in the middle of a character is not binary.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !whole });
  } catch {
    return `(binary, ${bytes.length}${whole ? '' : ' or more'} bytes)`;
  }
  if (text.includes('\0')) return `(binary, ${bytes.length}${whole ? '' : ' or more'} bytes)`;
  // Masked as a stream that continues if there is more, so that no part of a secret is shown at the end of the read
  // text.
  const masked = whole ? mask.text(text) : mask.stream().push(text);
  const kept = Buffer.from(masked).subarray(0, BODY_BYTES_MAX);
  return new TextDecoder('utf-8').decode(kept, { stream: true });
}
