// The only error that crosses our boundaries: a catalogued code, a sentence for people and facts that belong to the
// code.
import { catalog, type ErrorCode } from './catalog.ts';

const RETRY_MS = 5_000;

/** One of several things wrong with a value or a source. Lines and columns are 1-based and absent outside sources. */
export interface Finding {
  /** JSON Pointer into the refused value; empty for the whole. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
  readonly endLine?: number;
  readonly endColumn?: number;
  readonly severity?: string;
  readonly hint?: string;
}

export interface ServiceErrorOptions {
  readonly findings?: readonly Finding[] | undefined;
  /** For example `status` or `current_version`; shown to the caller beside the code. */
  readonly facts?: Readonly<Record<string, string>> | undefined;
  /** How long to wait before a repeat; without it the reply chooses. */
  readonly retryAfterMs?: number | undefined;
  /** The cause. Goes to the log, never over the wire. */
  readonly cause?: unknown;
}

export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly findings: readonly Finding[];
  readonly facts: Readonly<Record<string, string>>;
  readonly retryAfterMs: number | undefined;

  /** `message` holds no content of a run and no credential: callers and logs read it. */
  constructor(
    readonly code: ErrorCode,
    message: string = catalog[code].title,
    options: ServiceErrorOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.findings = options.findings ?? [];
    this.facts = options.facts ?? {};
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Returns the error itself if it is ours; any other becomes `internal` with the original as its cause. */
export function asServiceError(error: unknown): ServiceError {
  return error instanceof ServiceError ? error : new ServiceError('internal', undefined, { cause: error });
}

/**
 * For a caller whose organization or key has used up its share of a bounded resource (`Shares` of @methods/base).
 * `what`: the things in the plural, as in "event streams". The share is named in the facts `share` and `limit`.
 */
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
