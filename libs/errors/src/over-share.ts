// The error for a caller whose organization or key has used up its share of a bounded resource (`Shares` of
// @methods/base).
import { ServiceError } from './service-error.ts';

const RETRY_MS = 5_000;

/** `what`: the things in the plural, as in "event streams". The share is named in the facts `share` and `limit`. */
export function overShare(
  what: string,
  { share, max }: { readonly share: 'key' | 'organization' | 'all'; readonly max: number },
  retryAfterMs = RETRY_MS,
): ServiceError {
  if (share === 'all') return new ServiceError('unavailable', `Too many ${what} are open.`, { retryAfterMs });
  const whose = share === 'key' ? 'One key or person' : 'One organization';
  return new ServiceError('rate_limited', `${whose} may have at most ${max} ${what} open at a time now.`, {
    facts: { share, limit: String(max) },
    retryAfterMs,
  });
}
