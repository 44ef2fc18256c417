// Writes an async iterable to a stream no faster than the other side reads.

interface MessageSink<Message> {
  write(message: Message): boolean;
  once(event: 'drain', listener: () => void): unknown;
  off(event: 'drain', listener: () => void): unknown;
}

/** Returns when all is written, or when `signal` is aborted because no one reads any more. */
export async function writeAll<Message>(
  messages: AsyncIterable<Message>,
  sink: MessageSink<Message>,
  signal: AbortSignal,
): Promise<void> {
  for await (const message of messages) {
    if (signal.aborted) return;
    if (!sink.write(message)) await drained(sink, signal);
    if (signal.aborted) return;
  }
}

function drained(sink: MessageSink<never>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      sink.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    sink.once('drain', done);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}
