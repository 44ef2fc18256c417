// Walks over the files beneath a folder by descriptor, in the order of their names.
import { opendir } from 'node:fs/promises';
import { codeOf, type EntryName, EntryRefused, FolderHandle } from './folder-handle.ts';

export interface FoundEntry {
  /** Relative, with slashes. */
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'other';
  readonly bytes: number;
  /** The folder it is in; closed when the walk continues. */
  readonly folder: FolderHandle;
  /** Its last part, as the folder lists it. */
  readonly entry: EntryName;
}

/** More than a run folder may hold: the listing of a folder is kept in memory. */
const ENTRIES_MAX = 20_000;
const DEPTH_MAX = 64;

/** Throws EntryRefused for more than it may hold, or for folders nested deeper than in any run folder. */
export async function* entriesOf(folder: FolderHandle, above = '', depth = 0): AsyncGenerator<FoundEntry> {
  if (depth > DEPTH_MAX) throw new EntryRefused('the folder is nested too deep');
  for (const entry of await namesIn(folder)) {
    const name = above + entry.toString();
    const inner = folderOrNull(folder, entry);
    if (inner !== null) {
      try {
        yield { name, kind: 'folder', bytes: 0, folder, entry };
        yield* entriesOf(inner, `${name}/`, depth + 1);
      } finally {
        inner.close();
      }
      continue;
    }
    const bytes = await sizeOf(folder, entry);
    yield { name, kind: bytes === null ? 'other' : 'file', bytes: bytes ?? 0, folder, entry };
  }
}

/** Empty without a folder; skips links and devices. */
export async function* filesBelow(path: string): AsyncGenerator<FoundEntry> {
  let root: FolderHandle;
  try {
    root = FolderHandle.open(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  try {
    for await (const found of entriesOf(root)) if (found.kind === 'file') yield found;
  } finally {
    root.close();
  }
}

async function namesIn(folder: FolderHandle): Promise<Buffer[]> {
  const names: Buffer[] = [];
  const listing = await opendir(folder.place as string, { encoding: 'buffer' as BufferEncoding });
  for await (const { name } of listing) {
    if (names.length >= ENTRIES_MAX) throw new EntryRefused(`the folder holds more than ${ENTRIES_MAX} entries`);
    names.push(name as unknown as Buffer);
  }
  return names.sort(Buffer.compare);
}

function folderOrNull(folder: FolderHandle, name: EntryName): FolderHandle | null {
  try {
    return folder.folder(name);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOTDIR' || code === 'ELOOP' || code === 'ENOENT') return null;
    throw error;
  }
}

/** Null: it is not a file. */
async function sizeOf(folder: FolderHandle, name: EntryName): Promise<number | null> {
  try {
    const file = await folder.openFile(name);
    try {
      return (await file.stat()).size;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof EntryRefused || codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
