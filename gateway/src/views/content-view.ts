// Writes texts, times and sealed content as JSON by hand, for replies whose parts are JSON already: results, forms and
// shown values pass through the gateway without being parsed.
import type { RunView } from '@methods/proto/run/v1/run_pb';

const SEALED = '{"$sealed":"';

interface TextView {
  readonly message: string;
  readonly sealed?: unknown;
}

/** A message of a step or a run: its text, or what its worker sealed. What the service wrote itself is always a text. */
export function textView(text: string, { contentId }: Pick<RunView, 'contentId'>): TextView {
  return contentId !== '' && text.startsWith(SEALED) ? { message: '', sealed: JSON.parse(text) } : { message: text };
}

export function sealedJson(bytes: Uint8Array): string {
  return `{"$sealed":"${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url')}"}`;
}

/** A JSON string literal. */
export function jsonString(text: string): string {
  return JSON.stringify(text);
}

// The times of a run are mostly of one second, and writing a date costs a microsecond.
let secondWritten = Number.NaN;
let secondText = '';

/** Milliseconds since the epoch as RFC 3339 UTC with milliseconds; 0 is an unknown time, `null`. */
export function jsonTime(epochMs: number): string {
  if (!(epochMs > 0)) return 'null';
  const second = Math.floor(epochMs / 1_000);
  if (second !== secondWritten) {
    secondText = new Date(second * 1_000).toISOString().slice(0, -'000Z'.length);
    secondWritten = second;
  }
  const ms = Math.trunc(epochMs - second * 1_000);
  return `"${secondText}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z"`;
}

/** A span as whole milliseconds, never negative: clocks of two machines differ. */
export function jsonSpan(spanMs: number): string {
  return String(Math.max(0, Math.round(spanMs)));
}
