// Moves the files that a step's out names from the runner's working folder into the run folder.
import { type FileHandle, unlink } from 'node:fs/promises';
import { extname } from 'node:path';
import { RUN_FOLDER_LIMITS } from '@methods/content/archive-limits';
import { EntryRefused, FolderHandle } from '@methods/content/folder/folder-handle';
import { ArchiveRefused } from '@methods/content/member-names';
import type { CodeStep } from '@methods/method/compiled-method';
import { isJsonObject, type JsonValue } from '@methods/method/json';
import { type FileValue, mediaTypeOf } from './files/file-value.ts';
import type { RunFolder } from './run-folder.ts';
import { StepFailure } from './step-failure.ts';

const CHUNK_BYTES = 256 * 1024;

/**
 * Returns `out` with each `{ $file }` of `step.file()` replaced by its file value. The step has ended, but it wrote the
 * names and the folder, and its process may still change it: each file is opened beneath the folder without following a
 * link, and copied from that one descriptor. `made` gets the file values. Throws StepFailure of kind out or limit.
 */
export async function takeStepFiles(
  step: CodeStep,
  out: JsonValue,
  workDir: string,
  folder: RunFolder,
  path: string = step.name,
  made: Set<JsonValue> = new Set(),
): Promise<JsonValue> {
  checkCount(out);
  await folder.clearStep(path);
  const taken = new Map<string, FileValue>();
  const { filesBytesMax } = step.limits;
  let bytes = 0;

  async function take(work: FolderHandle, name: string, mediaType: string | undefined): Promise<FileValue> {
    const known = taken.get(name);
    if (known !== undefined) return known;
    const parts = name.split('/');
    const last = parts.pop() ?? '';
    return work.within(parts, async (parent) => {
      const file = await parent.openFile(last, { single: true });
      try {
        const { size } = await file.stat();
        if (bytes + size > filesBytesMax) throw tooLarge(filesBytesMax);
        const content = contentOf(file, (read) => {
          bytes += read;
          if (bytes > filesBytesMax) throw tooLarge(filesBytesMax);
        });
        const value = await folder.write(path, name, content, mediaType ?? mediaTypeOf(extname(name)));
        taken.set(name, value);
        made.add(value);
        return value;
      } finally {
        await file.close();
      }
    });
  }

  async function replace(work: FolderHandle, value: JsonValue): Promise<JsonValue> {
    if (typeof value !== 'object' || value === null) return value;
    if (!isJsonObject(value)) return inOrder(value, (item) => replace(work, item));
    const { $file, media_type } = value;
    if (typeof $file === 'string') {
      return take(work, $file, typeof media_type === 'string' ? media_type : undefined).catch(asFileFault);
    }
    const members = await inOrder(
      Object.entries(value),
      async ([name, member]) => [name, await replace(work, member)] as const,
    );
    return Object.fromEntries(members);
  }

  const work = FolderHandle.open(workDir);
  try {
    const replaced = await folder.together(() => replace(work, out));
    // The step may leave them, and they must not be stored twice.
    for (const name of taken.keys()) await leaveNoCopy(work, name);
    return replaced;
  } finally {
    work.close();
  }
}

/** Before the first is copied, so that 10,001 files are refused at once. */
function checkCount(out: JsonValue): void {
  const { filesMax } = RUN_FOLDER_LIMITS;
  if (namesIn(out).size > filesMax) throw new StepFailure('limit', `The step gives more than ${filesMax} files`);
}

function namesIn(value: JsonValue, names = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return names;
  if (isJsonObject(value) && typeof value.$file === 'string') return names.add(value.$file);
  for (const member of Object.values(value)) namesIn(member, names);
  return names;
}

/** `count` gets the bytes of each piece before they are passed on: the file may grow while it is read. */
async function* contentOf(file: FileHandle, count: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(CHUNK_BYTES), position: null });
    if (bytesRead === 0) return;
    count(bytesRead);
    yield buffer.subarray(0, bytesRead);
  }
}

async function leaveNoCopy(work: FolderHandle, name: string): Promise<void> {
  const parts = name.split('/');
  const last = parts.pop() ?? '';
  // Unlinking follows no link; a file put there meanwhile is the step's own as well.
  await work.within(parts, (parent) => unlink(parent.at(last))).catch(() => {});
}

function asFileFault(error: unknown): never {
  if (error instanceof StepFailure) throw error;
  if (error instanceof ArchiveRefused) throw fileFault(`has a name that cannot be kept: ${error.message}`);
  if (error instanceof EntryRefused) throw fileFault(error.message);
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') throw fileFault('is not there');
  if (code === 'ELOOP' || code === 'ENOTDIR' || code === 'ENAMETOOLONG')
    throw fileFault('must be in the working folder');
  // Held by a lease or a lock of the step's.
  if (code === 'EAGAIN') throw fileFault('cannot be read');
  throw error;
}

function tooLarge(bytesMax: number): StepFailure {
  return new StepFailure('limit', `The files are larger than ${bytesMax / 1048576} MiB (limits: files_mb)`);
}

/** One after the other: two members may name the same file. */
async function inOrder<From, To>(items: readonly From[], map: (item: From) => Promise<To>): Promise<To[]> {
  const mapped: To[] = [];
  for (const item of items) mapped.push(await map(item));
  return mapped;
}

function fileFault(what: string): StepFailure {
  return new StepFailure('out', `A file of the out ${what}`);
}
