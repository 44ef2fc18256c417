// Builds archives byte by byte for tests: false headers, and names and types that no honest packer writes.
import { gzipSync } from 'node:zlib';

export interface RawMember {
  readonly name: string | Buffer;
  /** Tar type flag; '0' is a regular file. */
  readonly type?: string;
  readonly content?: Buffer | string;
  /** Size the header claims; the content's length unless given. */
  readonly size?: number;
  /** The 12 bytes of the size field, for sizes that are no number. */
  readonly rawSize?: Buffer;
  readonly mode?: number;
  readonly link?: string;
}

export function rawTar(members: readonly RawMember[], end = true): Buffer {
  const parts = members.flatMap((member) => [headerOf(member), padded(contentOf(member))]);
  if (end) parts.push(Buffer.alloc(1024));
  return Buffer.concat(parts);
}

export function rawArchive(members: readonly RawMember[]): Buffer {
  return gzipSync(rawTar(members));
}

/** A PAX header that gives the next member these fields. */
export function pax(fields: Record<string, string>): RawMember {
  const lines = Object.entries(fields).map(([key, value]) => {
    const rest = Buffer.byteLength(` ${key}=${value}\n`);
    let length = rest + String(rest).length;
    if (rest + String(length).length !== length) length = rest + String(length).length;
    return `${length} ${key}=${value}\n`;
  });
  return { name: 'pax', type: 'x', content: lines.join('') };
}

function contentOf(member: RawMember): Buffer {
  return Buffer.from(member.content ?? '');
}

function headerOf(member: RawMember): Buffer {
  const header = Buffer.alloc(512);
  Buffer.from(member.name).copy(header, 0, 0, 100);
  header.write(`${(member.mode ?? 0o644).toString(8).padStart(6, '0')} \0`, 100);
  header.write('000000 \0', 108);
  header.write('000000 \0', 116);
  if (member.rawSize) member.rawSize.copy(header, 124, 0, 12);
  else header.write(`${(member.size ?? contentOf(member).length).toString(8).padStart(11, '0')} `, 124);
  header.write('00000000000 ', 136);
  header.write(member.type ?? '0', 156);
  header.write(member.link ?? '', 157);
  header.write('ustar\u000000', 257);
  let sum = 8 * 32;
  for (let i = 0; i < 512; i++) if (i < 148 || i >= 156) sum += header[i] as number;
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

function padded(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}
