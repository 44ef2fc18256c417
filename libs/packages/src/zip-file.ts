// Writes zip files: deflated members, without times, so that the same members are the same bytes.
import { crc32, deflateRawSync } from 'node:zlib';

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
/** 1980-01-01, the first day that the format knows. */
const DAY = 0x21;
const UTF8 = 0x0800;
const DEFLATED = 8;
const MODE = 0o100644 << 16;

export function zipFile(members: ReadonlyMap<string, Uint8Array>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, bytes] of members) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(bytes);
    // What both heads say of a member.
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(VERSION, 0);
    facts.writeUInt16LE(UTF8, 2);
    facts.writeUInt16LE(DEFLATED, 4);
    facts.writeUInt16LE(DAY, 8);
    facts.writeUInt32LE(crc32(bytes), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(bytes.length, 18);
    facts.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([number(LOCAL), facts, name, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(MODE >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    // The program that made it: of Unix, whose modes count.
    directory.push(Buffer.concat([number(CENTRAL), Buffer.from([VERSION, 3]), facts, rest, name]));
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(members.size, 4);
  end.writeUInt16LE(members.size, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, list, number(END), end]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
