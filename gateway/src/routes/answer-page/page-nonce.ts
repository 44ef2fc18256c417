// Proves that a post comes from a page that this visitor was shown a short time ago. Derived from the link's token,
// which no one else knows, so that no gateway stores the pages it showed.
import { createHmac, timingSafeEqual } from 'node:crypto';

const HOUR_MS = 3_600_000;
/** A page is valid for the hour in which it was made, and for this many more. */
const HOURS_MORE = 3;

export interface NonceOf {
  readonly token: string;
  /** What the page shows: the form, or the answer to confirm. */
  readonly shown: readonly string[];
}

export function pageNonce({ token, shown }: NonceOf, nowMs: number): string {
  return nonceAt(token, shown, Math.floor(nowMs / HOUR_MS));
}

export function isPageNonce(nonce: string, { token, shown }: NonceOf, nowMs: number): boolean {
  const given = Buffer.from(nonce);
  const hour = Math.floor(nowMs / HOUR_MS);
  for (let back = 0; back <= HOURS_MORE; back++) {
    const expected = Buffer.from(nonceAt(token, shown, hour - back));
    if (given.length === expected.length && timingSafeEqual(given, expected)) return true;
  }
  return false;
}

function nonceAt(token: string, shown: readonly string[], hour: number): string {
  return createHmac('sha256', token)
    .update(JSON.stringify(['answer-page', hour, ...shown]))
    .digest('base64url');
}
