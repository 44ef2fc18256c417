// A folder held open by its descriptor. Everything opened, created or removed through it is beneath that folder, even
// if a step renames or links entries meanwhile: each part of a name is opened separately and no link is followed. Node
// has no openat2; on Linux `/proc/self/fd/<descriptor>/<name>` works like openat, elsewhere the plain path is used.
import { closeSync, constants, fchmodSync, fstatSync, mkdirSync, openSync, type Stats } from 'node:fs';
import { chmod, type FileHandle, open } from 'node:fs/promises';

/** The entry must not be used: a link, a device, a file with a second name, or nothing at all. */
export class EntryRefused extends Error {
  override readonly name = 'EntryRefused';
}

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
const HAS_PROC = process.platform === 'linux';
/** Opens the entry, not its target: a device is not touched, a FIFO does not block. Node has no constant for it. */
const O_PATH = HAS_PROC ? 0o10000000 : 0;
const FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

export type EntryName = string | Buffer;

export class FolderHandle {
  private constructor(
    readonly fd: number,
    private readonly path: EntryName,
  ) {}

  /** `path` is the worker's own: only its last part may have been touched by a step. */
  static open(path: string): FolderHandle {
    return new FolderHandle(openSync(path, FOLDER_FLAGS), path);
  }

  close(): void {
    closeSync(this.fd);
  }

  /** Returns the path by which system calls find the entry. Names are single: no slash, no `..`. */
  at(name: EntryName): EntryName {
    if (!isSingle(name)) throw new EntryRefused('a name leads out of its folder');
    return joined(HAS_PROC ? `/proc/self/fd/${this.fd}` : this.path, name);
  }

  /** Where the folder itself is listed. */
  get place(): EntryName {
    return HAS_PROC ? `/proc/self/fd/${this.fd}` : this.path;
  }

  /** Fails with the system's error (ELOOP or ENOTDIR for a link, ENOENT) if it is not a folder. */
  folder(name: EntryName): FolderHandle {
    const place = this.at(name);
    return new FolderHandle(openSync(place, FOLDER_FLAGS), joined(this.path, name));
  }

  /** Creates the folder if it is missing. */
  ensureFolder(name: EntryName, mode = 0o700): FolderHandle {
    try {
      mkdirSync(this.at(name), { mode });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    return this.folder(name);
  }

  /** Opens the folder under a relative name with slashes, passes it to `visit`, and closes it afterwards. */
  async within<T>(names: readonly string[], visit: (folder: FolderHandle) => Promise<T>): Promise<T> {
    const [first, ...rest] = names;
    if (first === undefined) return visit(this);
    const inner = this.folder(first);
    try {
      return await inner.within(rest, visit);
    } finally {
      inner.close();
    }
  }

  /** As `within`; makes the folders that are missing. */
  async ensureWithin<T>(names: readonly string[], visit: (folder: FolderHandle) => Promise<T>): Promise<T> {
    const [first, ...rest] = names;
    if (first === undefined) return visit(this);
    const inner = this.ensureFolder(first);
    try {
      return await inner.ensureWithin(rest, visit);
    } finally {
      inner.close();
    }
  }

  /**
   * Opens a regular file to read. Throws EntryRefused for any other entry, and with `single` for a file with a second
   * name: it may be a file of the machine.
   */
  async openFile(name: EntryName, { single = false }: { single?: boolean } = {}): Promise<FileHandle> {
    const place = this.at(name);
    if (O_PATH === 0) return plain(await open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), single);
    const entry = openSync(place, O_PATH | O_NOFOLLOW);
    try {
      checkPlain(fstatSync(entry), single);
      const itself = `/proc/self/fd/${entry}`;
      const flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
      return await open(itself, flags).catch(async (error: unknown) => {
        if (codeOf(error) !== 'EACCES') throw error;
        // The step removed the right to read its own file; the descriptor identifies the file.
        await chmod(itself, 0o600);
        return open(itself, flags);
      });
    } finally {
      closeSync(entry);
    }
  }

  /** Creates a new file, to write and read. */
  async createFile(name: EntryName, mode: number): Promise<FileHandle> {
    return open(this.at(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  }

  /** Gives the owner every right to the folder, which a step may have removed. */
  unlock(): void {
    fchmodSync(this.fd, 0o700);
  }
}

/** Grants the owner every right to an entry that cannot even be opened. Links and files are not changed. */
export async function unlockFolder(folder: FolderHandle, name: EntryName): Promise<void> {
  const entry = await open(folder.at(name), O_PATH | O_NOFOLLOW | O_DIRECTORY);
  try {
    await chmod(O_PATH === 0 ? folder.at(name) : `/proc/self/fd/${entry.fd}`, 0o700);
  } finally {
    await entry.close();
  }
}

export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

async function plain(file: FileHandle, single: boolean): Promise<FileHandle> {
  try {
    checkPlain(await file.stat(), single);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function checkPlain(info: Stats, single: boolean): void {
  if (!info.isFile()) throw new EntryRefused('is not a file');
  if (single && info.nlink !== 1) throw new EntryRefused('has a second name (a hard link)');
}

function isSingle(name: EntryName): boolean {
  const bytes = Buffer.from(name as string);
  return (
    bytes.length > 0 && !bytes.includes(0) && !bytes.includes('/') && !['.', '..'].includes(bytes.toString('latin1'))
  );
}

/** Names need not be UTF-8. */
function joined(path: EntryName, name: EntryName): EntryName {
  if (typeof path === 'string' && typeof name === 'string') return `${path}/${name}`;
  return Buffer.concat([Buffer.from(path as string), Buffer.from('/'), Buffer.from(name as string)]);
}
