// The files of one run on this worker. Lazy: most runs have none and never use the disk.
import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { RUN_FOLDER_LIMITS } from '@methods/content/archive-limits';
import { EntryRefused, FolderHandle } from '@methods/content/folder/folder-handle';
import { filesBelow } from '@methods/content/folder/folder-walk';
import { removeEntry, removeFolder } from '@methods/content/folder/remove-folder';
import { MemberNames } from '@methods/content/member-names';
import { packFolder, unpackFolder } from '@methods/content/run-folder-archive';
import { isJsonObject, type JsonValue } from '@methods/method/json';
import { type FileValue, KnownFiles } from './files/file-value.ts';
import { type FetchFile, InputFolder } from './files/input-folder.ts';
import { StepFailure } from './step-failure.ts';

interface MadeFile {
  readonly bytes: number;
  readonly sha256: string;
}

export class RunFolder {
  private names: MemberNames | null = null;
  private readonly known = new KnownFiles();
  private inputs: InputFolder | null = null;
  private bytes = 0;
  private made = false;
  private changes = 0;
  private serial = 0;
  /** The paths of files by the step's folder, without those that were restored. */
  private files: Map<string, Set<string>> | null = null;
  /** Parallel steps change the folder while it is packed for one of them: packing and changes take turns. */
  private turn: Promise<unknown> | null = null;
  /** The writers of incomplete files and their bytes; the folder exists while there are any. */
  private parts = 0;
  private partsFolder: Promise<FolderHandle> | null = null;
  private partBytes = 0;
  private removed = false;

  private constructor(readonly dir: string) {}

  /** Touches nothing. `name` becomes a folder's name below `baseDir`. */
  static create(baseDir: string, name: string): RunFolder {
    if (!/^[A-Za-z0-9_-]{1,100}$/.test(name)) throw new TypeError("a run folder's name is letters, digits, - and _");
    return new RunFolder(join(baseDir, name));
  }

  /** Continues with a folder that is already on this machine. */
  static async reopen(baseDir: string, name: string): Promise<RunFolder> {
    const folder = RunFolder.create(baseDir, name);
    for await (const file of filesBelow(folder.dir)) {
      if (!/^steps\/(.+\/)?files\//.test(file.name)) continue;
      const handle = await file.folder.openFile(file.entry);
      folder.known.add(file.name, await factsOf(handle.createReadStream()));
      folder.bytes += file.bytes;
      folder.made = true;
    }
    return folder;
  }

  hasFiles(): boolean {
    return this.made;
  }

  /** False: no value is a file of the run. */
  maySeeFiles(): boolean {
    return this.made || this.inputs?.hasFiles() === true;
  }

  /** The inputs may name files too, which are not part of the folder. */
  takeInputs(fetch: FetchFile): InputFolder {
    this.inputs = new InputFolder(`${this.dir}.inputs`, fetch);
    return this.inputs;
  }

  /** True for a reference to a file that this worker wrote for the run, restored, or knows as one of its inputs. */
  has(value: JsonValue): value is FileValue {
    return this.known.has(value) || this.inputs?.has(value) === true;
  }

  /** Bytes of all files together. */
  get bytesTotal(): number {
    return this.bytes;
  }

  /**
   * Increases with every file added or removed since the folder was created or restored; the bytes may be the same
   * afterwards.
   */
  get revision(): number {
    return this.changes;
  }

  /**
   * Writes a stream into the folder of a step. A failed stream leaves no file. Throws ArchiveRefused when the name could
   * not be packed or is taken, StepFailure of kind limit when the run's files are too large together.
   */
  async write(step: string, name: string, content: AsyncIterable<Uint8Array>, mediaType: string): Promise<FileValue> {
    const made = await this.making(step, name, async (file) => {
      const hash = createHash('sha256');
      let bytes = 0;
      try {
        for await (const chunk of content) {
          this.partBytes += chunk.length;
          bytes += chunk.length;
          this.checkBounds();
          hash.update(chunk);
          await file.writeFile(chunk);
        }
      } finally {
        this.partBytes -= bytes;
      }
      return { bytes, sha256: hash.digest('hex') };
    });
    return { ...made, media_type: mediaType, name: name.slice(name.lastIndexOf('/') + 1) };
  }

  /** Sets up once what is needed to create files, for all files that `work` writes. */
  async together<T>(work: () => Promise<T>): Promise<T> {
    this.parts++;
    try {
      return await work();
    } finally {
      this.parts--;
      const folder = this.partsFolder;
      if (this.parts === 0 && folder !== null) {
        this.partsFolder = null;
        await this.inTurn(() => removeFolder(this.partsDir));
        await folder.then((opened) => opened.close()).catch(() => {});
      }
    }
  }

  /**
   * Returns the same value with absolute paths in the run's files, for code that opens them. `found` gets each by its
   * path.
   */
  async withAbsolutePaths(value: JsonValue, found?: Map<string, FileValue>): Promise<JsonValue> {
    if (typeof value !== 'object' || value === null) return value;
    if (!this.maySeeFiles()) return value;
    if (!isJsonObject(value)) return Promise.all(value.map((item) => this.withAbsolutePaths(item, found)));
    if (this.has(value)) {
      const path = await (this.inputs?.has(value) === true ? this.inputs : this).absolutePath(value.path);
      found?.set(path, value);
      return { ...value, path };
    }
    const members = Object.entries(value).map(
      async ([name, member]) => [name, await this.withAbsolutePaths(member, found)] as const,
    );
    return Object.fromEntries(await Promise.all(members));
  }

  /** Throws when the path leads out of the folder, over a link or to nothing: a step may have removed the file. */
  async absolutePath(path: string): Promise<string> {
    const file = await this.openFile({ path });
    await file.close();
    return join(this.dir, path);
  }

  /** To be read and closed by the caller. Throws as `absolutePath`. */
  async openFile(value: Pick<FileValue, 'path'>): Promise<FileHandle> {
    const { path } = value;
    if (this.inputs?.has(value as FileValue) === true) return this.inputs.openFile(path);
    const parts = path.split('/');
    const last = parts.pop() ?? '';
    const root = FolderHandle.open(this.dir);
    try {
      return await root.within(parts, (folder) => folder.openFile(last));
    } finally {
      root.close();
    }
  }

  /** The whole folder as a gzip tar. Only with files. */
  async *archive(): AsyncGenerator<Buffer> {
    let end = () => {};
    const packed = new Promise<void>((resolve) => {
      end = resolve;
    });
    const before = this.turn;
    this.turn = packed;
    try {
      await before;
      yield* packFolder(this.dir);
    } finally {
      end();
    }
  }

  /** Takes over what an earlier attempt saved. Earlier content is dropped. */
  async restore(archive: AsyncIterable<Uint8Array>): Promise<void> {
    await removeFolder(this.dir);
    this.known.drop('');
    this.bytes = await unpackFolder(archive, this.dir, RUN_FOLDER_LIMITS, (name, facts) => {
      this.known.add(name, facts);
    });
    this.made = true;
  }

  /** Later writes of a stopped step are refused. */
  async remove(): Promise<void> {
    this.removed = true;
    await this.inputs?.remove();
    if (!this.made) return;
    this.made = false;
    await this.inTurn(async () => {
      await removeFolder(this.dir);
      await removeFolder(this.partsDir);
    });
  }

  /**
   * Removes the files of an earlier try or a lost attempt of the step, so that its names are free. Called before its
   * first file.
   */
  async clearStep(step: string): Promise<void> {
    if (!this.made) return;
    const folder = folderOf(step);
    // Also those that were restored: they must not count beside the files that replace them.
    const gone = this.known.drop(`${folder}/files/`);
    await this.inTurn(() => this.removeFiles(folder));
    // Not before: an archive that is packed meanwhile may have them, and must not count as the newest.
    this.bytes -= gone.bytes;
    if (gone.files > 0) this.changes++;
    if (this.files?.delete(folder) !== true) return;
    // Names cannot be removed from it: it is made again from the others.
    this.names = new MemberNames(RUN_FOLDER_LIMITS.filesMax);
    for (const paths of this.files.values()) for (const path of paths) this.names.add('file', path);
  }

  /** Beside the folder, since an incomplete file must not be packed. */
  private get partsDir(): string {
    return `${this.dir}.parts`;
  }

  /** `make` writes the given file; the complete file then replaces it. */
  private async making(
    step: string,
    name: string,
    make: (file: FileHandle) => Promise<MadeFile>,
  ): Promise<MadeFile & { readonly path: string }> {
    const folder = folderOf(step);
    const path = `${folder}/files/${name}`;
    this.names ??= new MemberNames(RUN_FOLDER_LIMITS.filesMax);
    this.names.add('file', path);
    this.files ??= new Map();
    const paths = this.files.get(folder) ?? new Set<string>();
    this.files.set(folder, paths.add(path));
    this.checkBounds();
    this.made = true;
    const part = String(++this.serial);
    return this.together(async () => {
      this.partsFolder ??= this.inTurn(() => this.makeParts());
      const parts = await this.partsFolder;
      const file = await parts.createFile(part, 0o444);
      try {
        const { bytes, sha256 } = await make(file).finally(() => file.close());
        await this.inTurn(() => this.putInPlace(parts, part, path));
        this.known.add(path, { bytes, sha256 });
        this.bytes += bytes;
        this.changes++;
        return { path, bytes, sha256 };
      } catch (error) {
        await unlink(parts.at(part)).catch(() => {});
        throw error;
      }
    });
  }

  private async makeParts(): Promise<FolderHandle> {
    this.checkBounds();
    await mkdir(this.dir, { recursive: true, mode: 0o700 });
    await mkdir(this.partsDir, { recursive: true, mode: 0o700 });
    return FolderHandle.open(this.partsDir);
  }

  private async putInPlace(parts: FolderHandle, part: string, path: string): Promise<void> {
    this.checkBounds();
    const names = path.split('/');
    const last = names.pop() ?? '';
    const root = FolderHandle.open(this.dir);
    try {
      await root.ensureWithin(names, (target) => rename(parts.at(part), target.at(last)));
    } finally {
      root.close();
    }
  }

  private async removeFiles(folder: string): Promise<void> {
    const root = FolderHandle.open(this.dir);
    try {
      await root.within(folder.split('/'), (step) => removeEntry(step, 'files'));
    } catch (error) {
      // ENOENT: the step has none.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    } finally {
      root.close();
    }
  }

  private checkBounds(): void {
    if (this.removed) throw new EntryRefused('the run folder was removed');
    if (this.bytes + this.partBytes <= RUN_FOLDER_LIMITS.bytesMax) return;
    throw new StepFailure('limit', "The run's files are larger than 256 MiB");
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.turn === null ? work() : this.turn.then(work);
    this.turn = done.catch(() => {});
    return done;
  }
}

/** `loop[2]/inner` is in `steps/loop.2/inner`: some systems do not allow brackets in names. */
function folderOf(step: string): string {
  return `steps/${step.replaceAll(/\[(\d+)\]/g, '.$1')}`;
}

async function factsOf(content: AsyncIterable<Uint8Array>): Promise<MadeFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
