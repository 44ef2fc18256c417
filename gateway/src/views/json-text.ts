// Writes JSON by hand for replies whose parts are JSON already: results, forms and shown values pass through the
// gateway without being parsed.

/** A JSON string literal. */
export function jsonString(text: string): string {
  return JSON.stringify(text);
}

/** Milliseconds since the epoch as RFC 3339 UTC with milliseconds; 0 is an unknown time, `null`. */
export function jsonTime(epochMs: number): string {
  return epochMs > 0 ? `"${new Date(epochMs).toISOString()}"` : 'null';
}

/** A span as whole milliseconds, never negative: clocks of two machines differ. */
export function jsonSpan(spanMs: number): string {
  return String(Math.max(0, Math.round(spanMs)));
}
