// The files of one run on this worker. Lazy: most runs have none, and then nothing is ever made on the disk.
import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { chmod, copyFile, mkdir, open, realpath, rename, rm, unlink } from 'node:fs/promises';
import { dirname, extname, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { RUN_FOLDER_LIMITS } from '@methods/content/archive-limits';
import { MemberNames } from '@methods/content/member-names';
import { packFolder, unpackFolder } from '@methods/content/run-folder-archive';
import { isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import { mediaTypeOf } from './media-type.ts';

/** A file in an out: `path` is relative to the run folder (`steps/<step>/files/<name>`), `sha256` is hex. */
export interface FileValue extends JsonObject {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly media_type: string;
}

export class RunFolder {
  private names = new MemberNames(RUN_FOLDER_LIMITS.filesMax);
  private bytes = 0;
  private made = false;

  private constructor(readonly dir: string) {}

  /** Touches nothing. `runId` becomes a folder's name below `baseDir`. */
  static create(baseDir: string, runId: string): RunFolder {
    if (!/^[A-Za-z0-9_-]{1,100}$/.test(runId)) throw new TypeError('a run id is letters, digits, - and _');
    return new RunFolder(join(baseDir, runId));
  }

  hasFiles(): boolean {
    return this.made;
  }

  /** Bytes of all files together. */
  get bytesTotal(): number {
    return this.bytes;
  }

  /**
   * Moves a regular file into the folder of a step; nothing else may write to it any more. Throws ArchiveRefused when
   * its name could not be packed or is taken. The size was checked by the caller.
   */
  async moveIn(step: string, name: string, from: string, mediaType?: string): Promise<FileValue> {
    const { path, target } = await this.placeFor(step, name);
    await rename(from, target).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EXDEV') throw error;
      await copyFile(from, target, constants.COPYFILE_EXCL);
      await unlink(from);
    });
    await chmod(target, 0o444);
    const { bytes, sha256 } = await digestOf(target);
    this.bytes += bytes;
    return { path, bytes, sha256, media_type: mediaType ?? mediaTypeOf(extname(name)) };
  }

  /** Writes a stream into the folder of a step. A failed stream leaves no file. */
  async write(step: string, name: string, content: AsyncIterable<Uint8Array>, mediaType: string): Promise<FileValue> {
    const { path, target } = await this.placeFor(step, name);
    const hash = createHash('sha256');
    let bytes = 0;
    const file = await open(target, 'wx', 0o444);
    try {
      for await (const chunk of content) {
        hash.update(chunk);
        bytes += chunk.length;
        await file.writeFile(chunk);
      }
    } catch (error) {
      await unlink(target);
      throw error;
    } finally {
      await file.close();
    }
    this.bytes += bytes;
    return { path, bytes, sha256: hash.digest('hex'), media_type: mediaType };
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
  archive(): AsyncIterable<Buffer> {
    return packFolder(this.dir);
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
  }

  /** Drops what a lost attempt of the step left, so that its names are free. Call before the step's first file. */
  async clearStep(step: string): Promise<void> {
    if (!this.made) return;
    await rm(join(this.dir, 'steps', step), { recursive: true, force: true });
  }

  private async placeFor(step: string, name: string): Promise<{ path: string; target: string }> {
    const path = `steps/${step}/files/${name}`;
    this.names.add('file', path);
    const target = join(this.dir, path);
    this.made = true;
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    return { path, target };
  }
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
