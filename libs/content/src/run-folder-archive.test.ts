import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { pax, type RawMember, rawArchive, rawTar } from './hostile-archive.fixture.ts';
import { ArchiveRefused } from './member-names.ts';
import { packFolder, unpackFolder } from './run-folder-archive.ts';

let base: string;
let serial = 0;
before(async () => {
  base = await mkdtemp(join(tmpdir(), 'archive-'));
});
after(() => rm(base, { recursive: true, force: true }));

/** A separate place, so that any file written beside the target is noticed. */
async function place(): Promise<{ outside: string; target: string }> {
  const outside = join(base, `case-${++serial}`);
  await mkdir(outside);
  return { outside, target: join(outside, 'folder') };
}

async function* chunked(bytes: Buffer, size = 700): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function packed(dir: string): Promise<Buffer> {
  return Buffer.concat(await packFolder(dir).toArray());
}

const limits = { bytesMax: 100_000, filesMax: 50 };
const file = (name: string | Buffer, content = 'x'): RawMember => ({ name, content });
const long = (name: string): RawMember[] => [pax({ path: name }), file('short')];

const hostile: Record<string, Buffer> = {
  'a parent step': rawArchive([file('../evil')]),
  'a parent step further down': rawArchive([file('a/../../evil')]),
  'a parent step in a PAX path': rawArchive([pax({ path: '../evil' }), file('ok')]),
  'a parent step in a GNU long name': rawArchive([{ name: 'n', type: 'L', content: '../evil\0' }, file('ok')]),
  'an absolute name': rawArchive([file('/tmp/evil')]),
  'a drive letter': rawArchive([file('C:/evil')]),
  'a drive letter without a slash': rawArchive([file('c:evil')]),
  'a backslash': rawArchive([file('..\\evil')]),
  'a UNC name': rawArchive([file('\\\\host\\share')]),
  'a NUL in a PAX path': rawArchive([pax({ path: 'ok\0/../evil' }), file('ok')]),
  'a line break in a name': rawArchive(long('a\nb')),
  'a symbolic link': rawArchive([{ name: 'link', type: '2', link: '/etc' }]),
  'a write through a symbolic link': rawArchive([{ name: 'link', type: '2', link: '..' }, file('link/evil')]),
  'a hard link': rawArchive([file('a'), { name: 'b', type: '1', link: 'a' }]),
  'a character device': rawArchive([{ name: 'null', type: '3' }]),
  'a block device': rawArchive([{ name: 'disk', type: '4' }]),
  'a FIFO': rawArchive([{ name: 'pipe', type: '6' }]),
  'a contiguous file': rawArchive([{ name: 'old', type: '7', content: 'x' }]),
  'an unknown type': rawArchive([{ name: 'what', type: 'Z', content: 'x' }]),
  'a sparse file': rawArchive([{ name: 'sparse', type: 'S', content: 'x' }]),
  'two members with one name': rawArchive([file('a', '1'), file('a', '2')]),
  'names that differ in case': rawArchive([file('Report.txt'), file('report.TXT')]),
  'names that differ in composition': rawArchive([...long('caf\u00e9'), pax({ path: 'cafe\u0301' }), file('s')]),
  'folders that differ in case': rawArchive([file('A/x'), file('a/y')]),
  'a file where a folder is': rawArchive([file('a/b'), file('a')]),
  'a folder where a file is': rawArchive([file('a'), file('a/b')]),
  'a part of 300 characters': rawArchive(long('n'.repeat(300))),
  'a name of 2,000 characters': rawArchive(long('abc/'.repeat(500))),
  'forty folders deep': rawArchive(long(`${'d/'.repeat(40)}x`)),
  'a trailing dot': rawArchive([file('evil.')]),
  'a trailing space': rawArchive([file('evil ')]),
  'an empty name': rawArchive([file('')]),
  'only a dot': rawArchive([{ name: './', type: '5' }]),
  'a name that is not UTF-8': rawArchive([file(Buffer.from([0x61, 0xff, 0x62]))]),
  'a folder with a size': rawArchive([{ name: 'd/', type: '5', size: 512, content: 'y'.repeat(512) }]),
  'too many files': rawArchive(Array.from({ length: 51 }, (_, i) => file(`f${i}`, ''))),
  'too many folders implied by names': rawArchive(Array.from({ length: 26 }, (_, i) => file(`d${i}/f`, ''))),
  'more bytes than allowed': rawArchive([file('a', 'x'.repeat(60_000)), file('b', 'x'.repeat(60_000))]),
  'a size far above the content': rawArchive([{ name: 'a', size: 90_000, content: 'x' }]),
  'a size of terabytes': rawArchive([{ name: 'a', size: 2 ** 32, content: 'x' }]),
  'a size below the content': rawArchive([{ name: 'a', size: 1, content: 'y'.repeat(2000) }]),
  'a negative size': rawArchive([{ name: 'a', rawSize: Buffer.alloc(12, 0xff), content: 'x' }]),
  'a size that is no number': rawArchive([{ name: 'a', rawSize: Buffer.from('zzzzzzzzzzzz'), content: 'x' }]),
  'a PAX size that is no number': rawArchive([pax({ size: 'many' }), file('a')]),
  'a PAX header of 5 MiB': rawArchive([{ name: 'p', type: 'x', content: 'q'.repeat(5 << 20) }, file('a')]),
  'a ratio of a thousand': gzipSync(Buffer.concat([rawTar([file('a')], false), Buffer.alloc(64 << 20)])),
  'a nested archive that is cut off': rawArchive([{ name: 'in.tgz', size: 4000, content: rawArchive([file('a')]) }]),
  'a truncated gzip': rawArchive([file('a', 'hello')]).subarray(0, 60),
  'a tar that ends in a member': gzipSync(rawTar([{ name: 'a', content: 'z'.repeat(5000) }], false).subarray(0, 2048)),
  'a wrong checksum': gzipSync(Buffer.concat([Buffer.alloc(512, 1), Buffer.alloc(1024)])),
  'no gzip at all': Buffer.from('this is no archive'),
  'an empty stream': Buffer.alloc(0),
};

describe('unpackFolder refuses', () => {
  for (const [what, archive] of Object.entries(hostile)) {
    it(`${what}, and leaves nothing behind`, async () => {
      const { outside, target } = await place();
      await assert.rejects(unpackFolder(chunked(archive), target, limits), ArchiveRefused);
      assert.deepEqual(await readdir(outside), []);
    });
  }

  it('a folder that exists, without touching it', async () => {
    const { target } = await place();
    await mkdir(target);
    await writeFile(join(target, 'mine'), '1');
    await assert.rejects(unpackFolder(chunked(rawArchive([file('a')])), target, limits), { code: 'ENOTEMPTY' });
    assert.deepEqual(await readdir(target), ['mine']);
  });
});

describe('unpackFolder accepts', () => {
  it('a file with set-user-id and execute bits, without the bits', async () => {
    const { target } = await place();
    await unpackFolder(chunked(rawArchive([{ name: 'tool', mode: 0o4755, content: 'x' }])), target, limits);
    assert.equal((await stat(join(target, 'tool'))).mode & 0o7111, 0);
  });

  it('an archive inside the archive as a plain file', async () => {
    const { target } = await place();
    const inner = rawArchive([file('../evil')]);
    await unpackFolder(chunked(rawArchive([{ name: 'in.tgz', content: inner }])), target, limits);
    assert.deepEqual(await readFile(join(target, 'in.tgz')), inner);
  });

  it('bytes that come one by one', async () => {
    const { target } = await place();
    await unpackFolder(chunked(rawArchive([file('a/b', 'hello')]), 1), target, limits);
    assert.equal(await readFile(join(target, 'a/b'), 'utf8'), 'hello');
  });
});

describe('packFolder', () => {
  it('unpacks every file and folder unchanged, and packs the same bytes each time', async () => {
    const { outside, target } = await place();
    const source = join(outside, 'source');
    await mkdir(join(source, 'steps/report/files/deep'), { recursive: true });
    await writeFile(join(source, 'steps/report/files/deep/größe – 1.txt'), 'text');
    await writeFile(join(source, 'steps/report/files/big'), Buffer.alloc(300_000, 'b'));
    await writeFile(join(source, `steps/${'n'.repeat(200)}`), '');
    const archive = await packed(source);
    assert.deepEqual(gunzipSync(await packed(source)), gunzipSync(archive));
    await unpackFolder(chunked(archive), target);
    assert.equal(await readFile(join(target, 'steps/report/files/deep/größe – 1.txt'), 'utf8'), 'text');
    assert.equal((await readFile(join(target, 'steps/report/files/big'))).length, 300_000);
    assert.equal((await readFile(join(target, `steps/${'n'.repeat(200)}`))).length, 0);
  });

  it('refuses a link and a folder above its limits', async () => {
    const { outside } = await place();
    await writeFile(join(outside, 'a'), 'x'.repeat(2000));
    await assert.rejects(packFolder(outside, { bytesMax: 1000, filesMax: 5 }).toArray(), ArchiveRefused);
    await assert.rejects(packFolder(outside, { bytesMax: 9000, filesMax: 0 }).toArray(), ArchiveRefused);
    await symlink('/etc/hostname', join(outside, 'b'));
    await assert.rejects(packFolder(outside).toArray(), ArchiveRefused);
  });
});

describe('unpackFolder under random archives', () => {
  const name = fc.oneof(
    fc.stringMatching(/^[a-c./\\]{1,8}$/),
    fc.constantFrom('..', '../x', '/x', 'a', 'A', 'a/b', 'a/../b', 'c:', '.'),
  );
  const member: fc.Arbitrary<RawMember> = fc.record({
    name,
    type: fc.constantFrom('0', '0', '0', '5', '1', '2', 'L', 'x'),
    content: fc.string({ maxLength: 600 }),
    link: fc.constantFrom('', '..', '/etc', 'a'),
  });

  it('never writes outside the folder, with any members and any damaged bytes', async () => {
    const damage = fc.option(fc.record({ at: fc.nat(), byte: fc.nat(255) }), { nil: null });
    await fc.assert(
      fc.asyncProperty(fc.array(member, { maxLength: 6 }), damage, async (members, bad) => {
        const { outside, target } = await place();
        const tar = rawTar(members);
        if (bad) tar[bad.at % tar.length] = bad.byte;
        const accepted = await unpackFolder(chunked(gzipSync(tar)), target, limits).then(
          () => true,
          (error) => {
            assert.ok(error instanceof ArchiveRefused, String(error));
            return false;
          },
        );
        assert.deepEqual(await readdir(outside), accepted ? ['folder'] : []);
        await rm(outside, { recursive: true });
      }),
      { numRuns: 1000 },
    );
  });
});

it('a folder that is deeper than 32 is not packed', async () => {
  const { target } = await place();
  await mkdir(join(target, ...Array.from({ length: 33 }, () => 'd')), { recursive: true });
  await assert.rejects(packed(target), /deeper than 32 folders/);
});
