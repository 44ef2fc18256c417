// The pauses before a request is repeated.
import { onAbort } from './deadline.ts';
import { ConnectionError, MethodsError } from './errors.ts';

/** How long the server may be unavailable to a call that waits for a run: the run itself continues meanwhile. */
export const OUTAGE_MS_MAX = 60_000;
const PAUSE_MS = 250;
const PAUSE_MS_MAX = 8_000;
/** A server that asks for more is reported as it is. */
const RETRY_AFTER_MS_MAX = 60_000;
const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** With jitter, so that many clients do not return at the same time. */
export function backoffMs(attempt: number): number {
  return Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** attempt) * (0.5 + Math.random() / 2);
}

/** Reports whether the same request may succeed later. */
export function isPassing(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof MethodsError && PASSING.has(error.status ?? 0));
}

/** Null: a repeat would fail too, or the server asks for a longer pause than a call should make. */
export function pauseMsAfter(error: MethodsError, attempt: number): number | null {
  if (!isPassing(error)) return null;
  const ms = error.retryAfterMs ?? backoffMs(attempt);
  return ms > RETRY_AFTER_MS_MAX ? null : ms;
}

/** `header`: seconds, or a date of HTTP. */
export function retryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** @throws the reason of the signal */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let stop = () => {};
    const timer = setTimeout(() => {
      stop();
      resolve();
    }, ms);
    stop = onAbort(signal, (reason) => {
      clearTimeout(timer);
      reject(reason);
    });
  });
}
