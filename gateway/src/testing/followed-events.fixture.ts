// An open reply of server-sent events, read as it arrives.

export interface ReceivedEvent {
  readonly event: string;
  readonly id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: events are compared, not used
  readonly data: any;
}

export class FollowedEvents {
  text = '';
  over = false;

  private constructor(
    readonly response: Response,
    private readonly abort: AbortController,
  ) {
    void this.read();
  }

  static async of(url: string, headers: Readonly<Record<string, string>>): Promise<FollowedEvents> {
    const abort = new AbortController();
    return new FollowedEvents(await fetch(url, { headers, signal: abort.signal }), abort);
  }

  /** The events that have arrived completely. */
  get events(): ReceivedEvent[] {
    const whole = this.text.slice(0, this.text.lastIndexOf('\n\n') + 2).split('\n\n');
    return whole
      .filter((block) => block.startsWith('event: '))
      .map((block) => {
        const {
          event = '',
          id = null,
          data = '',
        } = /^event: (?<event>.*)\n(?:id: (?<id>.*)\n)?data: (?<data>.*)$/.exec(block)?.groups ?? {};
        return { event, id, data: JSON.parse(data) };
      });
  }

  get names(): string[] {
    return this.events.map(({ event }) => event);
  }

  leave(): void {
    this.abort.abort();
  }

  private async read(): Promise<void> {
    try {
      for await (const chunk of this.response.body ?? []) this.text += Buffer.from(chunk).toString();
    } catch {
      // Left, or disconnected.
    }
    this.over = true;
  }
}
