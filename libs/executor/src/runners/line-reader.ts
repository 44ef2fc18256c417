// Splits a stream of bytes into lines of bounded length: a peer that never ends its line must not fill the memory.

const LINE_FEED = 10;

export class LineReader {
  private parts: Buffer[] = [];
  private bytes = 0;

  constructor(
    private readonly lineBytesMax: number,
    private readonly onLine: (line: string) => void,
  ) {}

  /** Returns false when a line exceeds the bound; nothing may be pushed after that. */
  push(chunk: Buffer): boolean {
    let from = 0;
    for (let to = chunk.indexOf(LINE_FEED); to !== -1; to = chunk.indexOf(LINE_FEED, from)) {
      if (this.bytes === 0) {
        this.onLine(chunk.toString('utf8', from, to));
      } else {
        this.parts.push(chunk.subarray(from, to));
        const line = Buffer.concat(this.parts).toString('utf8');
        this.parts = [];
        this.bytes = 0;
        this.onLine(line);
      }
      from = to + 1;
    }
    if (from < chunk.length) {
      this.parts.push(chunk.subarray(from));
      this.bytes += chunk.length - from;
    }
    return this.bytes <= this.lineBytesMax;
  }
}
