// The names and sizes of the files in a tar, as it streams by (POSIX ustar, with the long names of pax).
import { unreadable } from './run-events.ts';

export interface RunFile {
  readonly path: string;
  readonly bytes: number;
}

const BLOCK = 512;
/** Of the names and attributes of one file. */
const ATTRIBUTES_MAX = 64 * 1024;

/** @throws UnexpectedReplyError */
export async function* tarFiles(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RunFile> {
  const blocks = new Blocks(chunks);
  try {
    yield* filesOf(blocks);
  } finally {
    await blocks.leave();
  }
}

async function* filesOf(blocks: Blocks): AsyncGenerator<RunFile> {
  let attributes: ReadonlyMap<string, string> = new Map();
  for (;;) {
    const head = await blocks.take(BLOCK);
    // A block of zeros ends a tar.
    if (head[0] === 0) return;
    const kind = String.fromCharCode(head[156] ?? 0);
    const bytes = Number(attributes.get('size') ?? Number.parseInt(textOf(head, 124, 12), 8));
    if (!(bytes >= 0)) throw unreadable('the archive of the files is damaged');
    if (kind === 'x') {
      if (bytes > ATTRIBUTES_MAX) throw unreadable('the archive of the files is damaged');
      attributes = attributesOf((await blocks.take(padded(bytes))).subarray(0, bytes));
      continue;
    }
    await blocks.skip(padded(bytes));
    const prefix = textOf(head, 345, 155);
    const path = attributes.get('path') ?? (prefix === '' ? '' : `${prefix}/`) + textOf(head, 0, 100);
    attributes = new Map();
    if (kind === '0' || kind === '\0') yield { path, bytes };
  }
}

class Blocks {
  private readonly chunks: AsyncIterator<Uint8Array>;
  private rest: Uint8Array = new Uint8Array(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.chunks = chunks[Symbol.asyncIterator]();
  }

  async take(bytes: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for (let left = bytes; left > 0; ) {
      const part = await this.part(left);
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts);
  }

  /** Ends the source, whose last bytes no one reads. */
  async leave(): Promise<void> {
    await this.chunks.return?.();
  }

  async skip(bytes: number): Promise<void> {
    for (let left = bytes; left > 0; ) left -= (await this.part(left)).length;
  }

  private async part(bytesMax: number): Promise<Uint8Array> {
    while (this.rest.length === 0) {
      const { value, done } = await this.chunks.next();
      if (done === true) throw unreadable('the archive of the files is cut');
      this.rest = value;
    }
    const part = this.rest.subarray(0, bytesMax);
    this.rest = this.rest.subarray(part.length);
    return part;
  }
}

/** Lines of `<length> <name>=<value>`. */
function attributesOf(bytes: Buffer): Map<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(' ', at);
    const length = Number(bytes.toString('latin1', at, space));
    if (space < 0 || !(length > 0)) throw unreadable('the archive of the files is damaged');
    const line = bytes.toString('utf8', space + 1, at + length - 1);
    const equals = line.indexOf('=');
    found.set(line.slice(0, equals), line.slice(equals + 1));
    at += length;
  }
  return found;
}

function textOf(block: Buffer, at: number, length: number): string {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}

function padded(bytes: number): number {
  return Math.ceil(bytes / BLOCK) * BLOCK;
}
