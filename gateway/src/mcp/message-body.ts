// The body of a reply in parts. It is one stream, where adapters and pipes between the library's stream and the
// connection would be five: a client that only listens costs what its connection costs.
import { Readable } from 'node:stream';

/** `count` is called with the bytes of each part; what it throws ends the reply. */
export function messageBody(parts: ReadableStream<Uint8Array>, count: (bytes: number) => void): Readable {
  const reader = parts.getReader();
  return new Readable({
    read() {
      reader.read().then(
        ({ done, value }) => {
          try {
            if (!done) count(value.length);
            this.push(done ? null : value);
          } catch (error) {
            this.destroy(error as Error);
          }
        },
        (error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      reader.cancel().then(
        () => done(error),
        () => done(error),
      );
    },
  });
}
