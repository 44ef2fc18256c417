// The files that a run's inputs name, on this worker: fetched when a step first needs them, checked against their hash,
// and stored beside the run's folder, so that they are never saved with it.
import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileId } from '@methods/base/ids';
import { FolderHandle } from '@methods/content/folder/folder-handle';
import { removeFolder } from '@methods/content/folder/remove-folder';
import { MemberNames } from '@methods/content/member-names';
import type { CompiledMethod } from '@methods/method/compiled-method';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { fileFields } from '@methods/method/typed-fields';
import { StepFailure } from '../step-failure.ts';
import { type FileValue, KnownFiles } from './file-value.ts';

/** `parts` of the file's content, from the first byte. Called again if the server was unavailable meanwhile. */
export type FetchFile = (fileId: FileId, take: (parts: AsyncIterable<Uint8Array>) => Promise<void>) => Promise<void>;

const FILE_ID = /^file_[0-9a-z]{26}$/;
const SHA256 = /^[0-9a-f]{64}$/;
const PART = 'part';

export class InputFolder {
  private readonly known = new KnownFiles();
  private readonly files = new Map<string, FileValue>();
  private readonly fetched = new Map<string, Promise<void>>();
  private made = false;

  constructor(
    private readonly dir: string,
    private readonly fetch: FetchFile,
  ) {}

  /**
   * Returns the reference to a file that the inputs name, from the server's data; null if the data is invalid. Its path
   * is derived here: a path in the run's row is ignored.
   */
  referenceTo({ file_id, name, bytes, sha256, media_type }: JsonObject): FileValue | null {
    if (typeof file_id !== 'string' || !FILE_ID.test(file_id) || typeof name !== 'string' || name.includes('/')) {
      return null;
    }
    if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || typeof sha256 !== 'string') return null;
    if (!SHA256.test(sha256) || typeof media_type !== 'string') return null;
    try {
      new MemberNames(2).add('file', `${file_id}/${name}`);
    } catch {
      return null;
    }
    const value = { path: `inputs/${file_id}/${name}`, bytes, sha256, media_type, name, file_id };
    this.files.set(value.path, value);
    this.known.add(value.path, value);
    return value;
  }

  has(value: JsonValue): value is FileValue {
    return this.known.has(value);
  }

  hasFiles(): boolean {
    return this.files.size > 0;
  }

  /**
   * Returns the path of the whole file, once it is on the disk. Throws StepFailure of kind input if it cannot be
   * fetched.
   */
  async absolutePath(path: string): Promise<string> {
    const file = this.files.get(path);
    if (file === undefined) throw new StepFailure('input', 'A file of the inputs is not known');
    let fetched = this.fetched.get(path);
    if (fetched === undefined) {
      fetched = this.fetchWhole(file);
      this.fetched.set(path, fetched);
      // The next step that needs it tries again.
      fetched.catch(() => this.fetched.delete(path));
    }
    await fetched;
    return join(this.dir, ...path.split('/').slice(1));
  }

  /** To be read and closed by the caller. Throws as `absolutePath`. */
  async openFile(path: string): Promise<FileHandle> {
    await this.absolutePath(path);
    const [, fileId = '', name = ''] = path.split('/');
    const root = FolderHandle.open(this.dir);
    try {
      return await root.within([fileId], (folder) => folder.openFile(name));
    } finally {
      root.close();
    }
  }

  async remove(): Promise<void> {
    if (!this.made) return;
    await Promise.allSettled(this.fetched.values());
    await removeFolder(this.dir);
  }

  private async fetchWhole(file: FileValue): Promise<void> {
    const [, fileId = '', name = ''] = file.path.split('/');
    this.made = true;
    await mkdir(this.dir, { recursive: true, mode: 0o700 });
    const root = FolderHandle.open(this.dir);
    try {
      await root.ensureWithin([fileId], async (folder) => {
        await this.fetch(fileId as FileId, (parts) => writeChecked(folder, file, parts));
        await rename(folder.at(PART), folder.at(name));
      });
    } finally {
      root.close();
    }
  }
}

async function writeChecked(folder: FolderHandle, file: FileValue, parts: AsyncIterable<Uint8Array>): Promise<void> {
  await unlink(folder.at(PART)).catch(() => {});
  const written = await folder.createFile(PART, 0o444);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const part of parts) {
      bytes += part.length;
      if (bytes > file.bytes) break;
      hash.update(part);
      await written.writeFile(part);
    }
  } finally {
    await written.close();
  }
  if (bytes !== file.bytes || hash.digest('hex') !== file.sha256) {
    throw new StepFailure('input', `The file ${String(file.name)} arrived damaged`);
  }
}

// The files among the inputs of a run, or of a method that it calls.

/** @throws StepFailure of kind input for a file that is not one of the run's. */
export function checkInputFiles(
  method: Pick<CompiledMethod, 'inputSchema'>,
  inputs: JsonObject,
  files: { has(value: JsonValue): boolean },
): void {
  for (const { file, path } of fileFields(method.inputSchema, inputs)) {
    if (!files.has(file))
      throw new StepFailure('input', `The input ${path.join('.').slice(0, 100)} is not a file of the run`);
  }
}
