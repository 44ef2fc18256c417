// Takes the files that a step's out names from the runner's working folder into the run folder.
import { lstat, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { RUN_FOLDER_LIMITS } from '@methods/content/archive-limits';
import { ArchiveRefused } from '@methods/content/member-names';
import type { CodeStep } from '@methods/method/compiled-method';
import { isJsonObject, type JsonValue } from '@methods/method/json';
import type { FileValue, RunFolder } from './run-folder.ts';
import { StepFailure } from './step-failure.ts';

/**
 * `out` with each `{ $file }` of `step.file()` replaced by its file value. The step has ended, but it wrote the names
 * and the folder: every path is checked again here. Throws StepFailure of kind out or limit.
 */
export async function takeStepFiles(
  step: CodeStep,
  out: JsonValue,
  workDir: string,
  folder: RunFolder,
  path: string = step.name,
): Promise<JsonValue> {
  await folder.clearStep(path);
  const taken = new Map<string, FileValue>();
  let bytes = 0;

  async function take(name: string, mediaType: string | undefined): Promise<FileValue> {
    const known = taken.get(name);
    if (known !== undefined) return known;
    const source = join(workDir, name);
    const real = await realpath(source).catch(() => null);
    if (real !== source || !real.startsWith(workDir + sep)) throw fileFault('must lie in the working folder');
    const info = await lstat(source);
    if (!info.isFile()) throw fileFault('is not a file');
    bytes += info.size;
    if (bytes > step.limits.filesBytesMax) {
      throw new StepFailure(
        'limit',
        `The files are larger than ${step.limits.filesBytesMax / 1048576} MiB (limits: files_mb)`,
      );
    }
    if (folder.bytesTotal + info.size > RUN_FOLDER_LIMITS.bytesMax) {
      throw new StepFailure('limit', "The run's files are larger than 256 MiB");
    }
    const value = await folder.moveIn(path, name, source, mediaType).catch((error: unknown) => {
      if (error instanceof ArchiveRefused) throw fileFault(`has a name that cannot be kept: ${error.message}`);
      throw error;
    });
    taken.set(name, value);
    return value;
  }

  async function replace(value: JsonValue): Promise<JsonValue> {
    if (typeof value !== 'object' || value === null) return value;
    if (!isJsonObject(value)) return inOrder(value, replace);
    const { $file, media_type } = value;
    if (typeof $file === 'string') return take($file, typeof media_type === 'string' ? media_type : undefined);
    const members = await inOrder(
      Object.entries(value),
      async ([name, member]) => [name, await replace(member)] as const,
    );
    return Object.fromEntries(members);
  }

  return replace(out);
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
