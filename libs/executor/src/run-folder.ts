// The files of one run on this worker. Lazy: most runs have none, and then nothing is ever made on the disk.
import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { chmod, copyFile, mkdir, open, readdir, realpath, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, extname, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { RUN_FOLDER_LIMITS } from '@methods/content/archive-limits';
import { MemberNames } from '@methods/content/member-names';
import { packFolder, unpackFolder } from '@methods/content/run-folder-archive';
import { isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import { mediaTypeOf } from './folder/media-type.ts';

/** A file in an out: `path` is relative to the run folder (`steps/<step>/files/<name>`), `sha256` is hex. */
export interface FileValue extends JsonObject {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly media_type: string;
}

interface MadeFile {
  readonly bytes: number;
  readonly sha256: string;
  readonly media_type: string;
}

export class RunFolder {
  private names: MemberNames | null = null;
  private bytes = 0;
  private made = false;
  private changes = 0;
  private serial = 0;
  /** Files by the step's folder, with their bytes: what clearing a step gives back. */
  private files: Map<string, Map<string, number>> | null = null;
  /** Steps side by side change the folder while it is packed for one of them: packing and changes take turns. */
  private turn: Promise<unknown> | null = null;
  /** Files that are not whole yet. */
  private parts = 0;

  private constructor(readonly dir: string) {}

  /** Touches nothing. `runId` becomes a folder's name below `baseDir`. */
  static create(baseDir: string, runId: string): RunFolder {
    if (!/^[A-Za-z0-9_-]{1,100}$/.test(runId)) throw new TypeError('a run id is letters, digits, - and _');
    return new RunFolder(join(baseDir, runId));
  }

  /** Goes on with a folder that stands on this machine already. */
  static async reopen(baseDir: string, runId: string): Promise<RunFolder> {
    const folder = RunFolder.create(baseDir, runId);
    const entries = await readdir(join(folder.dir, 'steps'), { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (!entry.isFile() || !entry.parentPath.split(sep).includes('files')) continue;
      folder.bytes += (await stat(join(entry.parentPath, entry.name))).size;
      folder.made = true;
    }
    return folder;
  }

  hasFiles(): boolean {
    return this.made;
  }

  /** Bytes of all files together. */
  get bytesTotal(): number {
    return this.bytes;
  }

  /** Rises with every file that came or went since the folder was made or restored; the bytes may be the same after. */
  get revision(): number {
    return this.changes;
  }

  /**
   * Moves a regular file into the folder of a step; nothing else may write to it any more. Throws ArchiveRefused when
   * its name could not be packed or is taken. The size was checked by the caller.
   */
  async moveIn(step: string, name: string, from: string, mediaType?: string): Promise<FileValue> {
    return this.making(step, name, async (part) => {
      await rename(from, part).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EXDEV') throw error;
        await copyFile(from, part, constants.COPYFILE_EXCL);
        await unlink(from);
      });
      await chmod(part, 0o444);
      return { ...(await digestOf(part)), media_type: mediaType ?? mediaTypeOf(extname(name)) };
    });
  }

  /** Writes a stream into the folder of a step. A failed stream leaves no file. */
  async write(step: string, name: string, content: AsyncIterable<Uint8Array>, mediaType: string): Promise<FileValue> {
    return this.making(step, name, async (part) => {
      const hash = createHash('sha256');
      let bytes = 0;
      const file = await open(part, 'wx', 0o444);
      try {
        for await (const chunk of content) {
          hash.update(chunk);
          bytes += chunk.length;
          await file.writeFile(chunk);
        }
      } finally {
        await file.close();
      }
      return { bytes, sha256: hash.digest('hex'), media_type: mediaType };
    });
  }

  /** The same value with absolute paths in its files, for code that opens them. */
  async withAbsolutePaths(value: JsonValue): Promise<JsonValue> {
    if (!this.made || typeof value !== 'object' || value === null) return value;
    if (!isJsonObject(value)) return Promise.all(value.map((item) => this.withAbsolutePaths(item)));
    if (isFileValue(value)) return { ...value, path: await this.absolutePath(value.path) };
    const members = Object.entries(value).map(
      async ([name, member]) => [name, await this.withAbsolutePaths(member)] as const,
    );
    return Object.fromEntries(await Promise.all(members));
  }

  /** Throws when the path leads out of the folder or to nothing: a file value can be made up by a step. */
  async absolutePath(path: string): Promise<string> {
    const root = await realpath(this.dir);
    const real = await realpath(join(root, path));
    if (!real.startsWith(root + sep)) throw new RangeError('a file lies outside the run folder');
    return real;
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

  /** Takes over what an earlier attempt saved. Whatever stood here before is dropped. */
  async restore(archive: AsyncIterable<Uint8Array>): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
    this.bytes = await unpackFolder(archive, this.dir);
    this.made = true;
  }

  async remove(): Promise<void> {
    if (!this.made) return;
    this.made = false;
    await rm(this.dir, { recursive: true, force: true });
    await rm(this.partsDir, { recursive: true, force: true });
  }

  /** Drops what an earlier try or a lost attempt of the step left, so that its names are free. Before its first file. */
  async clearStep(step: string): Promise<void> {
    if (!this.made) return;
    const folder = folderOf(step);
    await this.inTurn(() => rm(join(this.dir, folder, 'files'), { recursive: true, force: true }));
    const gone = this.files?.get(folder);
    if (!this.files || gone === undefined) return;
    this.files.delete(folder);
    this.changes++;
    for (const bytes of gone.values()) this.bytes -= bytes;
    // Names cannot be taken out of it: it is made anew from those that are left.
    this.names = new MemberNames(RUN_FOLDER_LIMITS.filesMax);
    for (const files of this.files.values()) for (const path of files.keys()) this.names.add('file', path);
  }

  /** Beside the folder: what is not whole yet must not be packed. */
  private get partsDir(): string {
    return `${this.dir}.parts`;
  }

  /** `make` writes the file to the path it is given; the whole file is then put in its place. */
  private async making(step: string, name: string, make: (part: string) => Promise<MadeFile>): Promise<FileValue> {
    const folder = folderOf(step);
    const path = `${folder}/files/${name}`;
    this.names ??= new MemberNames(RUN_FOLDER_LIMITS.filesMax);
    this.names.add('file', path);
    this.files ??= new Map();
    const files = this.files.get(folder) ?? new Map<string, number>();
    this.files.set(folder, files.set(path, 0));
    this.made = true;
    this.parts++;
    const part = join(this.partsDir, String(++this.serial));
    try {
      await this.inTurn(async () => {
        await mkdir(this.dir, { recursive: true, mode: 0o700 });
        await mkdir(this.partsDir, { recursive: true, mode: 0o700 });
      });
      const { bytes, sha256, media_type } = await make(part);
      const target = join(this.dir, path);
      await this.inTurn(async () => {
        await mkdir(dirname(target), { recursive: true, mode: 0o700 });
        await rename(part, target);
      });
      files.set(path, bytes);
      this.bytes += bytes;
      this.changes++;
      return { path, bytes, sha256, media_type };
    } finally {
      this.parts--;
      if (this.parts === 0) await this.inTurn(() => rm(this.partsDir, { recursive: true, force: true }));
      else await rm(part, { force: true });
    }
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.turn === null ? work() : this.turn.then(work);
    this.turn = done.catch(() => {});
    return done;
  }
}

/** `loop[2]/inner` lies in `steps/loop.2/inner`: brackets are no names on some systems. */
function folderOf(step: string): string {
  return `steps/${step.replaceAll(/\[(\d+)\]/g, '.$1')}`;
}

/** True for the exact shape of a file value. */
export function isFileValue(value: JsonValue): value is FileValue {
  if (!isJsonObject(value) || Object.keys(value).length !== 4) return false;
  const { path, bytes, sha256, media_type } = value;
  return (
    typeof path === 'string' &&
    path.startsWith('steps/') &&
    typeof bytes === 'number' &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256) &&
    typeof media_type === 'string'
  );
}

async function digestOf(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  await pipeline(createReadStream(path), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  });
  return { bytes, sha256: hash.digest('hex') };
}
