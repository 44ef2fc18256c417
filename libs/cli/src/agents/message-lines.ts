// Messages on standard input and output: one line of JSON each, of bounded length.

export type Line = { readonly kind: 'line'; readonly text: string } | { readonly kind: 'too_long' };

/** A line over `bytesMax` is skipped as it arrives, and never buffered. Ends with the input. */
export async function* readLines(input: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Line> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      yield lineOf([...parts, chunk.subarray(from, end)], bytes + end - from, bytesMax);
      parts = [];
      bytes = 0;
      from = end + 1;
    }
    bytes += chunk.length - from;
    if (bytes > bytesMax) parts = [];
    else parts.push(chunk.subarray(from));
  }
  if (bytes > 0) yield lineOf(parts, bytes, bytesMax);
}

function lineOf(parts: readonly Uint8Array[], bytes: number, bytesMax: number): Line {
  if (bytes > bytesMax) return { kind: 'too_long' };
  return { kind: 'line', text: Buffer.concat(parts).toString('utf8').trim() };
}

/** Waits while the reader is slow, so that no more than the requests in progress is buffered. One line at a time. */
export class LineWriter {
  private last: Promise<void> = Promise.resolve();

  constructor(private readonly output: NodeJS.WritableStream) {}

  write(message: unknown): Promise<void> {
    const text = `${JSON.stringify(message)}\n`;
    this.last = this.last.then(() => new Promise<void>((written) => this.output.write(text, () => written())));
    return this.last;
  }
}
