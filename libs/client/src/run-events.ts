// Follows one run over broken connections, until it is over.
import { readEvents } from '@methods/api/event-stream';
import { ConnectionError, UnexpectedReplyError } from './errors.ts';
import { backoffMs, pause } from './pauses.ts';
import type { RequestOptions, Requests } from './requests.ts';
import { isOver, isStarted, type Run, runPath } from './run.ts';

/** `run`: the whole run, first and whenever an event was missed; then `step`: a step that changed, and `status`. */
export type RunEvent =
  | { readonly event: 'run'; readonly data: Run }
  | { readonly event: 'step'; readonly data: Run['steps'][number] }
  | { readonly event: 'status'; readonly data: Omit<Run, 'steps'> };

/** The server sends a comment every 15 s. */
export const SILENCE_MS = 45_000;

/** @throws MethodsError; the reason of the signal */
export async function* runEvents(
  requests: Requests,
  runId: string,
  { signal }: RequestOptions,
): AsyncGenerator<RunEvent, void, undefined> {
  const path = `${runPath(runId)}/events`;
  let lastId: string | null = null;
  for (let failures = 0; ; failures++) {
    const headers: Record<string, string> = lastId === null ? {} : { 'last-event-id': lastId };
    const exchange = await requests.open({ verb: 'GET', path, headers, signal, isUnderway: failures > 0 });
    if (exchange.response.status === 204) {
      await exchange.text();
      return;
    }
    try {
      for await (const { event, id, data } of readEvents(exchange.chunks(SILENCE_MS), unreadable)) {
        if (event !== 'run' && event !== 'step' && event !== 'status') continue;
        const value = objectIn(data);
        failures = 0;
        yield { event, data: value } as RunEvent;
        lastId = id ?? lastId;
        if (isStarted(value) && isOver(value)) return;
      }
    } catch (error) {
      if (!(error instanceof ConnectionError) || failures >= requests.settings.maxRetries) throw error;
    }
    await pause(backoffMs(failures), signal);
  }
}

/** @throws UnexpectedReplyError */
function objectIn(data: string): object {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === 'object' && value !== null) return value;
  } catch {}
  throw unreadable('The server sent an event that is not one of a run.');
}

export function unreadable(message: string): UnexpectedReplyError {
  return new UnexpectedReplyError('unexpected_reply', message);
}
