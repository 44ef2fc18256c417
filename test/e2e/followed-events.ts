// Server-sent events of a stack, read as they come.
import type { RunBody, RunStep } from './api-client.ts';

export interface StackEvent {
  readonly event: string;
  readonly id: string | null;
  readonly data: Partial<RunBody> & Partial<RunStep> & { readonly method_id?: string };
}

export interface FollowedEvents {
  readonly status: number;
  /** Those that have come. */
  readonly events: StackEvent[];
  /** Resolves at the stream's end. */
  readonly over: Promise<void>;
  leave(): void;
}

const WITHIN_MS = 60_000;

export async function followEvents(url: string, credential: string, lastEventId = ''): Promise<FollowedEvents> {
  const left = new AbortController();
  const reply = await fetch(url, {
    headers: { authorization: `Bearer ${credential}`, ...(lastEventId && { 'last-event-id': lastEventId }) },
    signal: AbortSignal.any([left.signal, AbortSignal.timeout(WITHIN_MS)]),
  });
  const events: StackEvent[] = [];
  const read = async () => {
    let text = '';
    for await (const chunk of reply.body ?? []) {
      text += Buffer.from(chunk).toString();
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = /^event: (?<event>.*)\n(?:id: (?<id>.*)\n)?data: (?<data>.*)$/.exec(block)?.groups;
        if (fields)
          events.push({ event: fields.event ?? '', id: fields.id ?? null, data: JSON.parse(fields.data ?? '') });
      }
    }
  };
  const over = read().catch((error: unknown) => {
    if (!left.signal.aborted) throw error;
  });
  return { status: reply.status, events, over, leave: () => left.abort() };
}
