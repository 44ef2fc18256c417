// Removes a folder that a step could write: by descriptor, so that nothing outside of it is touched, at any depth and
// with any rights and names.
import { randomBytes } from 'node:crypto';
import { opendir, rename, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { codeOf, type EntryName, FolderHandle, unlockFolder } from './folder-handle.ts';

/** Entries looked at together: the rest of a large folder waits on the disk and not in memory. */
const BATCH = 256;
/** A process that is still alive may add files as fast as they are removed. */
const LOOKS_MAX = 1_000_000;
const TRIES_MAX = 100;

/** Does nothing if there is none. The folder above it is the worker's own. */
export async function removeFolder(path: string): Promise<void> {
  let above: FolderHandle;
  try {
    above = FolderHandle.open(dirname(path));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  try {
    await removeEntry(above, basename(path));
  } finally {
    above.close();
  }
}

/** Removes the entry of this name in the folder, a link as a link. */
export async function removeEntry(folder: FolderHandle, name: EntryName): Promise<void> {
  for (let tried = 1; !(await isUnlinked(folder, name)); tried++) {
    const inner = await openUnlocked(folder, name);
    if (inner === null) return;
    await emptyFolder(inner).finally(() => inner.close());
    try {
      await rmdir(folder.at(name));
      return;
    } catch (error) {
      // Another removal of the same folder moves the entries it finds, and may have done so since.
      if (codeOf(error) !== 'ENOTEMPTY' || tried === TRIES_MAX) return unlessGone(error);
    }
  }
}

/** Moves nested folders up to its own level before they are emptied: paths and descriptors stay few, at any depth. */
async function emptyFolder(top: FolderHandle): Promise<void> {
  const left: EntryName[] = [];
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const name = left.pop();
    const inner = name === undefined ? top : await openUnlocked(top, name);
    if (inner === null) continue;
    try {
      const deeper = await foldersLeft(inner);
      if (deeper === null) {
        if (name === undefined) return;
        await rmdir(top.at(name)).catch(unlessGone);
        continue;
      }
      // It is visited again when its content is gone.
      if (name !== undefined) left.push(name);
      for (const child of deeper) left.push(name === undefined ? child : await movedUp(inner, child, top));
    } finally {
      if (inner !== top) inner.close();
    }
  }
  throw new Error('a folder is filled again as fast as it is emptied');
}

/** Unlinks entries other than folders and returns some that are left; null: the folder is empty. */
async function foldersLeft(folder: FolderHandle): Promise<EntryName[] | null> {
  const folders: EntryName[] = [];
  let isEmpty = true;
  // `buffer`: a name need not be UTF-8.
  const listing = await opendir(folder.place as string, { encoding: 'buffer' as BufferEncoding, bufferSize: BATCH });
  try {
    for (let looked = 0; looked < BATCH; looked++) {
      const entry = await listing.read();
      if (entry === null) break;
      isEmpty = false;
      const name = entry.name as unknown as Buffer;
      if (!(await isUnlinked(folder, name))) folders.push(name);
    }
  } finally {
    await listing.close();
  }
  return isEmpty ? null : folders;
}

/** False if it is a folder. */
async function isUnlinked(folder: FolderHandle, name: EntryName): Promise<boolean> {
  try {
    await unlink(folder.at(name));
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return true;
    // EPERM: what systems other than Linux return for a folder.
    if (code === 'EISDIR' || code === 'EPERM') return false;
    throw error;
  }
}

/** Null: it is no longer a folder. */
async function openUnlocked(folder: FolderHandle, name: EntryName): Promise<FolderHandle | null> {
  for (let tried = 0; ; tried++) {
    try {
      const inner = folder.folder(name);
      // Only root can empty another user's folder.
      try {
        inner.unlock();
      } catch {}
      return inner;
    } catch (error) {
      const code = codeOf(error);
      if (code === 'ENOENT') return null;
      if (code === 'ENOTDIR' || code === 'ELOOP') {
        await unlink(folder.at(name)).catch(unlessGone);
        return null;
      }
      if (code !== 'EACCES' || tried > 0) throw error;
      await unlockFolder(folder, name);
    }
  }
}

/** Returns its new name. Moving a folder also needs rights to the folder itself, since its `..` changes. */
async function movedUp(from: FolderHandle, name: EntryName, to: FolderHandle): Promise<EntryName> {
  const free = `.${randomBytes(9).toString('hex')}`;
  try {
    await rename(from.at(name), to.at(free));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return free;
    if (codeOf(error) !== 'EACCES') throw error;
    await unlockFolder(from, name);
    await rename(from.at(name), to.at(free));
  }
  return free;
}

function unlessGone(error: unknown): void {
  const code = codeOf(error);
  if (code !== 'ENOENT' && code !== 'ENOTEMPTY') throw error;
}
