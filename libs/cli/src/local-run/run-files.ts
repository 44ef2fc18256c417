// Reads and writes the files of a local run in its folder by descriptor: links are not followed, even if a step or a
// repository created them.
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { EntryRefused, FolderHandle } from '@methods/content/folder/folder-handle';

const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;

/** `name` is relative to the folder, with slashes. @throws EntryRefused for other than files; the system's errors. */
export function readRunFile(runDir: string, name: string): Promise<Buffer> {
  return inFolder(runDir, name, 'within', async (folder, last) => {
    const file = await folder.openFile(last);
    try {
      return await file.readFile();
    } finally {
      await file.close();
    }
  });
}

/** As `readRunFile`; null: there is none. */
export async function readRunText(runDir: string, name: string): Promise<string | null> {
  try {
    return (await readRunFile(runDir, name)).toString('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Writes all or nothing; an existing file is replaced. Missing folders are created. */
export function writeRunFile(runDir: string, name: string, content: string | Uint8Array): Promise<void> {
  return inFolder(runDir, name, 'ensureWithin', async (folder, last) => {
    const besides = `${last}.${randomBytes(4).toString('hex')}`;
    const file = await folder.createFile(besides, 0o666);
    try {
      await file.writeFile(content);
      await rename(folder.at(besides), folder.at(last));
    } catch (error) {
      await unlink(folder.at(besides)).catch(() => {});
      throw error;
    } finally {
      await file.close();
    }
  });
}

export function writeRunJson(runDir: string, name: string, value: unknown): Promise<void> {
  return writeRunFile(runDir, name, `${JSON.stringify(value, null, 2)}\n`);
}

export function removeRunFile(runDir: string, name: string): Promise<void> {
  return inFolder(runDir, name, 'ensureWithin', async (folder, last) => {
    await unlink(folder.at(last)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  });
}

/** To be written at its end. */
export function openToAppend(runDir: string, name: string): Promise<FileHandle> {
  return inFolder(runDir, name, 'within', async (folder, last) => {
    const file = await open(folder.at(last), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o666);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw new EntryRefused('is not a file');
  });
}

async function inFolder<T>(
  runDir: string,
  name: string,
  walk: 'within' | 'ensureWithin',
  visit: (folder: FolderHandle, last: string) => Promise<T>,
): Promise<T> {
  const names = name.split('/');
  const last = names.pop() ?? '';
  const root = FolderHandle.open(runDir);
  try {
    return await root[walk](names, (folder) => visit(folder, last));
  } finally {
    root.close();
  }
}
