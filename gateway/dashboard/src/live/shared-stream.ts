// One event stream for all tabs of a browser profile: browsers open six connections to a server, and each stream holds
// one. The tab that holds a lock has the stream and passes its events on; when it closes, the lock goes to another tab,
// which continues after the last event that it has heard.
import type { ServerSentEvent } from '@methods/api/event-stream';
import { followEvents, type LiveState } from './event-connection.ts';

type Message =
  | { readonly kind: 'event'; readonly event: ServerSentEvent }
  /** `lastId`: so that a tab that takes the stream over misses nothing. */
  | { readonly kind: 'state'; readonly state: LiveState; readonly lastId: string | null }
  /** From a tab that has just opened. */
  | { readonly kind: 'hello' };

export interface StreamListener {
  onEvent(event: ServerSentEvent): void;
  onState(state: LiveState): void;
  onRefused(): void;
}

export class SharedStream {
  private readonly ended = new AbortController();
  private readonly channel: BroadcastChannel;
  private state: LiveState = { kind: 'connecting' };
  private lastId: string | null = null;
  private leads = false;

  constructor(
    private readonly url: string,
    private readonly listener: StreamListener,
  ) {
    const name = `methods-events ${url}`;
    this.channel = new BroadcastChannel(name);
    this.channel.onmessage = ({ data }: MessageEvent<Message>) => this.heard(data);
    this.channel.postMessage({ kind: 'hello' } satisfies Message);
    navigator.locks
      .request(name, { signal: this.ended.signal }, () => this.lead())
      // The page leaves the organization before its turn.
      .catch(() => {});
  }

  close(): void {
    this.ended.abort();
    this.channel.close();
  }

  private lead(): Promise<void> {
    this.leads = true;
    return followEvents({
      url: this.url,
      since: this.lastId,
      signal: this.ended.signal,
      onEvent: (event) => {
        this.say({ kind: 'event', event });
        this.took(event);
      },
      onState: (state) => {
        this.say({ kind: 'state', state, lastId: this.lastId });
        this.changed(state);
      },
      onRefused: () => this.listener.onRefused(),
    });
  }

  private heard(message: Message): void {
    if (message.kind === 'event') this.took(message.event);
    else if (message.kind === 'state') {
      this.lastId = message.lastId ?? this.lastId;
      this.changed(message.state);
    } else if (this.leads) this.say({ kind: 'state', state: this.state, lastId: this.lastId });
  }

  private took(event: ServerSentEvent): void {
    this.lastId = event.id ?? this.lastId;
    this.listener.onEvent(event);
  }

  private changed(state: LiveState): void {
    this.state = state;
    this.listener.onState(state);
  }

  private say(message: Message): void {
    if (!this.ended.signal.aborted) this.channel.postMessage(message);
  }
}
