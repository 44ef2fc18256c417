// Reads one file from a run folder's archive while the archive streams. Workers pack archives, and this runs in a
// process shared by callers of all organizations, so it bounds what a header may make it read, keep and do. tar-stream
// does not: it accepts an extended header of 4 MiB and copies it for each member that follows.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type ArchiveLimits, RUN_FOLDER_LIMITS, unpackedBytesMax } from './archive-limits.ts';
import { ArchiveRefused } from './member-names.ts';

const BLOCK_BYTES = 512;
/** A name has at most 1 KiB. */
const EXTENDED_BYTES_MAX = 16 * 1024;
const PART_BYTES = 64 * 1024;

export interface ArchiveMember {
  readonly bytes: number;
  /** The reader may leave it, and with it the archive. */
  readonly content: AsyncIterable<Uint8Array>;
}

interface Header {
  readonly name: string;
  readonly type: string;
  readonly bytes: number;
}

/**
 * Null: the archive has no such file. `unpacked` is called with each part, and unpacking continues when its promise
 * resolves. @throws ArchiveRefused, and what `source` throws
 */
export async function memberOf(
  source: AsyncIterable<Uint8Array>,
  name: string,
  limits: ArchiveLimits = RUN_FOLDER_LIMITS,
  unpacked: (bytes: number) => Promise<void> | null = () => null,
): Promise<ArchiveMember | null> {
  const tar = new UnpackedBytes(source, unpackedBytesMax(limits), unpacked);
  let found: ArchiveMember | null = null;
  try {
    let longName: string | null = null;
    for (let headers = 0; ; headers++) {
      if (headers > 2 * limits.filesMax) throw new ArchiveRefused('the archive has too many members');
      const header = headerOf(await tar.take(BLOCK_BYTES));
      if (header === null) return null;
      const { type, bytes } = header;
      if (type === 'x' || type === 'L') {
        if (bytes > EXTENDED_BYTES_MAX) throw new ArchiveRefused('a name is too long');
        const text = await tar.take(bytes);
        await tar.skip(padding(bytes));
        longName = type === 'L' ? textOf(text) : (pathOf(text) ?? longName);
        continue;
      }
      if (bytes > limits.bytesMax) throw new ArchiveRefused('the files exceed the limit of a run folder');
      if (type === '0' && (longName ?? header.name) === name) {
        found = { bytes, content: tar.pass(bytes) };
        return found;
      }
      longName = null;
      await tar.skip(bytes + padding(bytes));
    }
  } catch (error) {
    throw isDamage(error) ? new ArchiveRefused('the archive is damaged') : error;
  } finally {
    if (found === null) await tar.leave();
  }
}

/** The output of gunzip, on demand: at most one part is buffered. */
class UnpackedBytes {
  private readonly parts: AsyncIterator<Buffer>;
  private part: Buffer = Buffer.alloc(0);
  private bytes = 0;

  constructor(
    source: AsyncIterable<Uint8Array>,
    private readonly bytesMax: number,
    private readonly unpacked: (bytes: number) => Promise<void> | null,
  ) {
    const gunzip = createGunzip({ chunkSize: PART_BYTES });
    // Its failure reaches the reader: pipeline destroys gunzip with it.
    pipeline(Readable.from(source, { objectMode: false }), gunzip).catch(() => {});
    this.parts = gunzip[Symbol.asyncIterator]();
  }

  async take(count: number): Promise<Buffer> {
    const taken: Buffer[] = [];
    for (let left = count; left > 0; left -= taken.at(-1)?.length ?? 0) taken.push(await this.next(left));
    return taken.length === 1 ? (taken[0] as Buffer) : Buffer.concat(taken);
  }

  async skip(count: number): Promise<void> {
    for (let left = count; left > 0; ) left -= (await this.next(left)).length;
  }

  async *pass(count: number): AsyncGenerator<Uint8Array> {
    try {
      for (let left = count; left > 0; ) {
        const part = await this.next(left);
        left -= part.length;
        yield part;
      }
    } finally {
      await this.leave();
    }
  }

  async leave(): Promise<void> {
    await this.parts.return?.();
  }

  /** At least one byte, at most `max`. */
  private async next(max: number): Promise<Buffer> {
    while (this.part.length === 0) {
      const next = await this.parts.next();
      if (next.done === true) throw new ArchiveRefused('the archive is cut off');
      this.part = next.value;
      this.bytes += this.part.length;
      if (this.bytes > this.bytesMax)
        throw new ArchiveRefused(`the archive unpacks to more than ${this.bytesMax} bytes`);
      await this.unpacked(this.part.length);
    }
    const part = this.part.subarray(0, max);
    this.part = this.part.subarray(part.length);
    return part;
  }
}

/** Null: the end of the archive. */
function headerOf(block: Buffer): Header | null {
  let sum = 8 * 32;
  for (let i = 0; i < BLOCK_BYTES; i++) if (i < 148 || i >= 156) sum += block[i] as number;
  if (sum === 8 * 32) return null;
  if (octal(block, 148, 8) !== sum) throw new ArchiveRefused('the archive is damaged');
  const prefix = block.toString('latin1', 257, 263) === 'ustar\0' ? textOf(block.subarray(345, 500)) : '';
  const name = textOf(block.subarray(0, 100));
  const type = block[156] === 0 ? '0' : String.fromCharCode(block[156] as number);
  return { name: prefix === '' ? name : `${prefix}/${name}`, type, bytes: octal(block, 124, 12) };
}

function octal(block: Buffer, from: number, length: number): number {
  const text = block
    .toString('latin1', from, from + length)
    .replace(/[\0 ]+$/, '')
    .trimStart();
  if (!/^[0-7]{1,11}$/.test(text)) throw new ArchiveRefused('a member has no valid size');
  return Number.parseInt(text, 8);
}

function textOf(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? field.length : end);
}

/** The path among the records `<length> <key>=<value>\n` of an extended header. */
function pathOf(records: Buffer): string | null {
  for (let at = 0; at < records.length; ) {
    const space = records.indexOf(32, at);
    const length = space === -1 || space - at > 6 ? Number.NaN : Number(records.toString('latin1', at, space));
    if (!Number.isInteger(length) || length <= space - at) throw new ArchiveRefused('the archive is damaged');
    if (records.toString('latin1', space + 1, space + 6) === 'path=') {
      return records.toString('utf8', space + 6, at + length - 1);
    }
    at += length;
  }
  return null;
}

function padding(bytes: number): number {
  return (BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES;
}

function isDamage(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code?.startsWith('Z_') === true;
}
