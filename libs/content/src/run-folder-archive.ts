// Packs a run folder as one stream and unpacks it: a gzip tar of regular files and folders. Input is untrusted until it
// is in a fresh folder: everything is checked and counted while it streams, then renamed into place.
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, rename } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { type ExtractEvents, extract, type Pack, pack } from 'tar-stream';
import { type ArchiveLimits, RUN_FOLDER_LIMITS, unpackedBytesMax } from './archive-limits.ts';
import { EntryRefused, FolderHandle } from './folder/folder-handle.ts';
import { entriesOf, type FoundEntry } from './folder/folder-walk.ts';
import { removeFolder } from './folder/remove-folder.ts';
import { ArchiveRefused, MemberNames } from './member-names.ts';

type Entry = ExtractEvents['entry'][1];

/** Called with each file in the folder. */
type Unpacked = (name: string, file: { readonly bytes: number; readonly sha256: string }) => void;

/**
 * Packs every file below `dir` in the order of their names; the same files produce the same bytes. The stream fails
 * with ArchiveRefused when the folder contains links or devices or exceeds the limits.
 */
export function packFolder(dir: string, limits: ArchiveLimits = RUN_FOLDER_LIMITS): Readable {
  const tar = pack();
  const gzip = createGzip();
  pipeline(tar, gzip).catch(() => {}); // The failure reaches the reader: pipeline destroys gzip with it.
  addMembers(tar, dir, limits).then(
    () => tar.finalize(),
    (error: unknown) => tar.destroy(error instanceof Error ? error : new ArchiveRefused('packing failed')),
  );
  return gzip;
}

/**
 * Unpacks into `dir`, which must not exist, and returns the sum of the files' bytes. A failure leaves nothing behind; a
 * bad archive is ArchiveRefused.
 */
export async function unpackFolder(
  source: AsyncIterable<Uint8Array>,
  dir: string,
  limits: ArchiveLimits = RUN_FOLDER_LIMITS,
  unpacked: Unpacked = () => {},
): Promise<number> {
  const staging = `${dir}.unpacking-${randomBytes(6).toString('hex')}`;
  await mkdir(staging, { recursive: true, mode: 0o700 });
  try {
    const folder = FolderHandle.open(staging);
    const bytes = await unpackInto(source, folder, unpacked, limits).finally(() => folder.close());
    await rename(staging, dir);
    return bytes;
  } catch (error) {
    await removeFolder(staging);
    throw isArchiveFault(error) ? new ArchiveRefused('the archive is damaged') : error;
  }
}

async function addMembers(tar: Pack, dir: string, limits: ArchiveLimits): Promise<void> {
  const names = new MemberNames(limits.filesMax);
  let bytes = 0;
  const folder = FolderHandle.open(dir);
  try {
    for await (const found of entriesOf(folder)) {
      if (found.kind === 'other') throw new ArchiveRefused('the folder holds a link or a device');
      names.add(found.kind, found.name);
      bytes += await addMember(tar, found, limits.bytesMax - bytes);
    }
  } catch (error) {
    throw error instanceof EntryRefused ? new ArchiveRefused('the folder holds a link or a device') : error;
  } finally {
    folder.close();
  }
}

/** Its bytes. */
async function addMember(tar: Pack, found: FoundEntry, bytesMax: number): Promise<number> {
  const header = { name: found.name, mtime: new Date(0) };
  if (found.kind === 'folder') {
    tar.entry({ ...header, type: 'directory', mode: 0o755 });
    return 0;
  }
  const file = await found.folder.openFile(found.entry);
  try {
    // Taken from the opened file, since the name may lead to another file than the listed one.
    const { size } = await file.stat();
    if (size > bytesMax) throw new ArchiveRefused('the files exceed the limit of a run folder');
    const entry = tar.entry({ ...header, type: 'file', mode: 0o644, size });
    const content = size === 0 ? Readable.from([]) : file.createReadStream({ autoClose: false, end: size - 1 });
    await pipeline(content, entry);
    return size;
  } finally {
    await file.close();
  }
}

async function unpackInto(
  source: AsyncIterable<Uint8Array>,
  folder: FolderHandle,
  unpacked: Unpacked,
  limits: ArchiveLimits,
): Promise<number> {
  const tar = extract();
  const streamed = pipeline(Readable.from(source), createGunzip(), unpackedBytesBound(limits), tar);
  streamed.catch(() => {}); // Awaited below; until then a failure must not count as unhandled.
  const names = new MemberNames(limits.filesMax);
  let bytes = 0;
  try {
    for await (const entry of tar) {
      // An invalid size would leave the member's stream without an end.
      if (!Number.isSafeInteger(entry.header.size)) throw new ArchiveRefused('a member has no valid size');
      bytes += entry.header.size;
      if (bytes > limits.bytesMax) throw new ArchiveRefused(`the files exceed ${limits.bytesMax} bytes`);
      await unpackMember(entry, folder, names, unpacked);
    }
  } catch (error) {
    tar.destroy();
    const cause: unknown = await streamed.then(
      () => error,
      (streamError: unknown) => streamError,
    );
    // A member interrupted by a fault of the stream only reports that it was destroyed; the stream has the reason.
    throw (error as NodeJS.ErrnoException).code === 'STREAM_DESTROYED' ? cause : error;
  }
  await streamed;
  return bytes;
}

async function unpackMember(entry: Entry, folder: FolderHandle, names: MemberNames, unpacked: Unpacked): Promise<void> {
  const { type, size } = entry.header;
  if (type === 'directory') {
    // The reader would take a folder's content for further members.
    if (size !== 0) throw new ArchiveRefused('a folder has a size');
    const name = entry.header.name.replace(/\/$/, '');
    names.add('folder', name);
    await folder.ensureWithin(name.split('/'), (made) => Promise.resolve(made.fd));
    entry.resume();
    return;
  }
  if (type !== 'file') throw new ArchiveRefused('a member is neither a file nor a folder');
  names.add('file', entry.header.name);
  const parts = entry.header.name.split('/');
  const last = parts.pop() ?? '';
  await folder.ensureWithin(parts, async (parent) => {
    // The mode is ours: set-user-id and execute bits of the archive are ignored.
    const file = await parent.createFile(last, 0o644);
    const hash = createHash('sha256');
    try {
      for await (const chunk of entry) {
        hash.update(chunk as Buffer);
        await file.writeFile(chunk as Buffer);
      }
      unpacked(entry.header.name, { bytes: size, sha256: hash.digest('hex') });
    } finally {
      await file.close();
    }
  });
}

/** Counts the real output of gunzip: sizes in headers may be false, and a small archive can unpack to terabytes. */
function unpackedBytesBound(limits: ArchiveLimits): Transform {
  const bytesMax = unpackedBytesMax(limits);
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > bytesMax) done(new ArchiveRefused(`the archive unpacks to more than ${bytesMax} bytes`));
      else done(null, chunk);
    },
  });
}

/** Faults of the bytes themselves, as zlib and tar-stream report them; not a full disk or a lost stream. */
function isArchiveFault(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof ArchiveRefused) return false;
  const code = (error as NodeJS.ErrnoException).code;
  if (code?.startsWith('Z_')) return true;
  return code === undefined && /tar header|Invalid header|Unexpected end of data|Header exceeds/.test(error.message);
}
