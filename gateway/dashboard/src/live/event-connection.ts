// One connection to the organization's events: opens it again when it ends, with the id of the last event, and reports
// whether it is open. A stream that is silent for longer than its comments' interval is dead, even if no one closed it.
import { readEvents, type ServerSentEvent } from '@methods/api/event-stream';
import { pause } from './pause.ts';

export type LiveState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open' }
  /** `sinceMs`: wall time. */
  | { readonly kind: 'stopped'; readonly sinceMs: number };

interface ConnectionOptions {
  readonly url: string;
  /** The last event that another page of this browser has seen; null: none. */
  readonly since: string | null;
  readonly signal: AbortSignal;
  readonly onEvent: (event: ServerSentEvent) => void;
  readonly onState: (state: LiveState) => void;
  /** The session has ended, or the role no longer suffices. */
  readonly onRefused: () => void;
}

/** Comments come every 15 s. */
const SILENCE_MS_MAX = 40_000;
const FIRST_WAIT_MS = 500;
const WAIT_MS_MAX = 15_000;

/** Resolves when the signal aborts. */
export async function followEvents(options: ConnectionOptions): Promise<void> {
  const { signal, onState } = options;
  let since = options.since;
  let waitMs = FIRST_WAIT_MS;
  let stoppedMs: number | null = null;
  onState({ kind: 'connecting' });
  while (!signal.aborted) {
    try {
      for await (const event of eventsOf(options, since)) {
        since = event.id ?? since;
        if (event.event === 'ready' || event.event === 'resync') {
          waitMs = FIRST_WAIT_MS;
          stoppedMs = null;
          onState({ kind: 'open' });
        }
        options.onEvent(event);
      }
    } catch {
      // The next try shows whether the fault that ended it has passed.
    }
    if (signal.aborted) return;
    stoppedMs ??= Date.now();
    onState({ kind: 'stopped', sinceMs: stoppedMs });
    await pause(waitMs * (0.5 + Math.random()), signal);
    waitMs = Math.min(waitMs * 2, WAIT_MS_MAX);
  }
}

async function* eventsOf({ url, signal, onRefused }: ConnectionOptions, since: string | null) {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
  const response = await fetch(url, {
    headers: { accept: 'text/event-stream', ...(since !== null && { 'last-event-id': since }) },
    cache: 'no-store',
    signal: AbortSignal.any([signal, silence.signal]),
  }).finally(() => clearTimeout(timer));
  if (response.status === 401 || response.status === 403) onRefused();
  if (!response.ok || response.body === null) throw new Error(`the stream replied ${response.status}`);
  yield* readEvents(heard(response.body, silence), (message) => new Error(message));
}

async function* heard(body: ReadableStream<Uint8Array>, silence: AbortController): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
      const { done, value } = await reader.read();
      clearTimeout(timer);
      if (done) return;
      yield value;
    }
  } finally {
    clearTimeout(timer);
    void reader.cancel().catch(() => {});
  }
}
