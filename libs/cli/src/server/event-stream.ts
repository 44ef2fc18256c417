// Parses server-sent events (https://html.spec.whatwg.org, 9.2): text in, events out.
import { CommandError } from '../errors/command-error.ts';

export interface ServerSentEvent {
  readonly id: string | null;
  /** `message` unless the server names another. */
  readonly event: string;
  readonly data: string;
}

const EVENT_CHARACTERS_MAX = 16 * 1024 * 1024;

/** Ends with the text; an event without its blank line does not count. @throws CommandError `too_large`. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    // A CR at the end may be the first half of a line end.
    const whole = text.endsWith('\r') ? text.length - 1 : text.length;
    const blocks = text.slice(0, whole).replace(/\r\n?/g, '\n').split('\n\n');
    text = (blocks.pop() ?? '') + text.slice(whole);
    for (const block of blocks) {
      const event = eventOf(block);
      if (event !== null) yield event;
    }
    if (text.length > EVENT_CHARACTERS_MAX) throw new CommandError('too_large', 'the server sent an event over 16 MiB');
  }
}

/** null: a comment that keeps the connection open. */
function eventOf(block: string): ServerSentEvent | null {
  const data: string[] = [];
  let id: string | null = null;
  let event = 'message';
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') data.push(value);
    else if (name === 'id') id = value;
    else if (name === 'event') event = value;
  }
  return data.length === 0 ? null : { id, event, data: data.join('\n') };
}
