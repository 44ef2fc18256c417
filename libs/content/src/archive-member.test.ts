import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { until } from '@methods/test/harness/until';
import { memberOf } from './archive-member.ts';
import { pax, type RawMember, rawArchive, rawTar } from './hostile-archive.fixture.ts';
import { ArchiveRefused } from './member-names.ts';
import { packFolder } from './run-folder-archive.ts';

let base: string;
before(async () => {
  base = await mkdtemp(join(tmpdir(), 'member-'));
});
after(() => rm(base, { recursive: true, force: true }));

/** Returns how many of its parts were read, and whether the reader left. */
class Source {
  asked = 0;
  left = false;

  constructor(
    private readonly bytes: Buffer,
    private readonly partBytes = 700,
  ) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for (let at = 0; at < this.bytes.length; at += this.partBytes) {
        this.asked++;
        yield this.bytes.subarray(at, at + this.partBytes);
      }
    } finally {
      this.left = true;
    }
  }
}

async function read(archive: Buffer, name: string, limits?: Parameters<typeof memberOf>[2]): Promise<Buffer | null> {
  const member = await memberOf(new Source(archive), name, limits);
  if (member === null) return null;
  const parts: Uint8Array[] = [];
  for await (const part of member.content) parts.push(part);
  assert.equal(Buffer.concat(parts).length, member.bytes);
  return Buffer.concat(parts);
}

describe('one file of an archive', () => {
  it('equals the packed file, with any name and size', async () => {
    const dir = join(base, 'packed');
    const long = `steps/${'a'.repeat(120)}/files/${'ü'.repeat(100)}.csv`;
    const files: Record<string, Buffer> = {
      'steps/a/files/empty': Buffer.alloc(0),
      'steps/a/files/one.txt': Buffer.from('1'),
      'steps/a/files/block': Buffer.alloc(512, 'b'),
      'steps/a/files/large.bin': Buffer.alloc(300_001, 'c'),
      'steps/a/files/Größe 100% #1.txt': Buffer.from('named'),
      [long]: Buffer.from('long'),
      'steps/z.0/files/last': Buffer.from('last'),
    };
    for (const [name, content] of Object.entries(files)) {
      await mkdir(join(dir, name, '..'), { recursive: true });
      await writeFile(join(dir, name), content);
    }
    const archive = Buffer.concat(await packFolder(dir).toArray());
    for (const [name, content] of Object.entries(files)) assert.deepEqual(await read(archive, name), content, name);
    for (const name of ['steps', 'steps/a', 'steps/a/files/', 'one.txt', '', 'steps/a/files/one.tx']) {
      assert.equal(await read(archive, name), null, name);
    }
  });

  it('is never another one, with any headers', async () => {
    const other = { name: 'b', content: 'b' };
    const long = (name: string) => ({ name: 'L', type: 'L', content: `${name}\0` });
    assert.deepEqual(
      await read(rawArchive([pax({ path: 'a' }), { name: 'x', content: '1' }, other]), 'a'),
      Buffer.from('1'),
    );
    assert.deepEqual(await read(rawArchive([long('a'), { name: 'x', content: '1' }, other]), 'a'), Buffer.from('1'));
    assert.deepEqual(
      await read(rawArchive([pax({ path: 'a' }), { name: 'x', content: '1' }, other]), 'b'),
      Buffer.from('b'),
    );
    assert.equal(await read(rawArchive([pax({ path: 'a' }), { name: 'x', content: '1' }, other]), 'x'), null);
    for (const type of ['1', '2', '3', '5', '6', 'g']) {
      assert.equal(await read(rawArchive([{ name: 'a', type, link: 'b' }, other]), 'a'), null, type);
    }
  });

  it('is not read further when its reader leaves, nor is the rest of the archive', async () => {
    const filler = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => (i * i * 31) >> 7));
    const archive = rawArchive([
      { name: 'a', content: filler },
      { name: 'b', content: filler },
    ]);
    for (const bytes of [1, filler.length]) {
      const source = new Source(archive, 10_000);
      const member = await memberOf(source, 'a');
      let seen = 0;
      for await (const part of member?.content ?? []) {
        seen += part.length;
        if (seen >= bytes) break;
      }
      await until('the archive is left', () => source.left);
      assert.ok(source.asked < (bytes === 1 ? 100 : 350), `${source.asked} parts were read`);
    }
    const missed = new Source(archive, 10_000);
    let unpacked = 0;
    const count = (bytes: number) => {
      unpacked += bytes;
      return null;
    };
    assert.equal(await memberOf(missed, 'none', undefined, count), null);
    await until('the archive is left', () => missed.left);
    // Skipped members count as well.
    assert.ok(unpacked > 2 * filler.length, `${unpacked} bytes`);
    const held = new Source(archive, 10_000);
    void memberOf(held, 'none', undefined, () => new Promise<void>(() => {}));
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    assert.ok(held.asked < 100, `${held.asked} parts were read`);
  });

  it('fails with the fault of the archive, and with that of the source', async () => {
    const file = (name: string, more: Partial<RawMember> = {}) => ({ name, content: 'x', ...more });
    const records = '8 a=bbb\n'.repeat(2_100);
    for (const [fault, archive] of Object.entries({
      'no gzip': Buffer.from('no gzip'),
      'nothing at all': Buffer.alloc(0),
      'cut off': rawArchive([file('a')]).subarray(0, 40),
      'no end': gzipSync(rawTar([file('a')], false)),
      'a header that is none': gzipSync(Buffer.alloc(1_024, 'x')),
      'no size': rawArchive([file('a', { rawSize: Buffer.alloc(12, 0xff) })]),
      'a size of terabytes': rawArchive([file('a', { size: 2 ** 32 })]),
      'a long name without end': rawArchive([
        { name: 'x', type: 'L', size: 17_000, content: 'n'.repeat(17_000) },
        file('a'),
      ]),
      'a large extended header': rawArchive([{ name: 'x', type: 'x', content: records }, file('a')]),
      'records without length': rawArchive([{ name: 'x', type: 'x', content: 'path=a\n' }, file('a')]),
      'records of length 0': rawArchive([{ name: 'x', type: 'x', content: '0 path=a\n' }, file('a')]),
      'too many members': rawArchive(Array.from({ length: 102 }, (_, i) => file(`f${i}`, { content: '' }))),
      'a bomb': rawArchive(Array.from({ length: 60 }, (_, i) => file(`f${i}`, { content: Buffer.alloc(90_000) }))),
    })) {
      await assert.rejects(read(archive, 'none', { bytesMax: 100_000, filesMax: 50 }), ArchiveRefused, fault);
    }
    async function* broken() {
      yield rawArchive([file('a')]).subarray(0, 30);
      throw new Error('the source is gone');
    }
    await assert.rejects(memberOf(broken(), 'a'), /the source is gone/);
  });
});
