// Parses server-sent events (https://html.spec.whatwg.org, 9.2): bytes in, events out.

export interface ServerSentEvent {
  readonly id: string | null;
  /** `message` unless the server names another. */
  readonly event: string;
  readonly data: string;
}

const EVENT_CHARACTERS_MAX = 16 * 1024 * 1024;

/** Ends with the bytes; an event without its blank line does not count. Throws `tooLarge` for an event over 16 MiB. */
export async function* readEvents(
  chunks: AsyncIterable<Uint8Array>,
  tooLarge: (message: string) => Error,
): AsyncGenerator<ServerSentEvent> {
  let event = new EventLines();
  let characters = 0;
  for await (const line of linesOf(chunks, add)) {
    if (line !== '') event.add(line);
    else {
      const whole = event.whole();
      event = new EventLines();
      characters = 0;
      if (whole !== null) yield whole;
    }
  }

  function add(count: number): void {
    characters += count;
    if (characters > EVENT_CHARACTERS_MAX) throw tooLarge('the server sent an event over 16 MiB');
  }
}

/** `took`: gets the characters of a line as they arrive. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>, took: (count: number) => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  // Of the line that has not ended: joining them for each chunk would take the square of the time for a large event.
  let parts: string[] = [];
  let afterReturn = false;
  for await (const chunk of chunks) {
    let text = decoder.decode(chunk, { stream: true });
    if (text === '') continue;
    // A CR at the end of the chunk before was the first half of a line end.
    if (afterReturn && text.startsWith('\n')) text = text.slice(1);
    afterReturn = text.endsWith('\r');
    const [first = '', ...rest] = text.split(/\r\n|\r|\n/);
    parts.push(first);
    took(first.length);
    for (const next of rest) {
      yield parts.join('');
      parts = [next];
      took(next.length);
    }
  }
}

class EventLines {
  private readonly data: string[] = [];
  private id: string | null = null;
  private event = 'message';

  add(line: string): void {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.data.push(value);
    else if (name === 'id') this.id = value;
    else if (name === 'event') this.event = value;
  }

  /** null: a comment that keeps the connection open. */
  whole(): ServerSentEvent | null {
    const { data, id, event } = this;
    return data.length === 0 ? null : { id, event, data: data.join('\n') };
  }
}
