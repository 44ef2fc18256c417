// Looks up the files that the inputs of a start name and replaces them by references that only the server creates.
import type { FileId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { INPUT_FILE_LIMITS, mebibytes } from '@methods/method/file-limits';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { fileFields, replaceFiles } from '@methods/method/typed-fields';
import type { InputFile } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { FileOwner, InputFiles } from '../../clients/input-files.ts';
import type { StartableVersion } from '../../clients/method-version.ts';
import { tooLarge } from '../../plugins/error-reply.ts';

const { filesMax, bytesMax } = INPUT_FILE_LIMITS;
const FINDINGS_MAX = 20;

interface WithFiles {
  readonly inputs: JsonValue;
  readonly fileIds: readonly FileId[];
}

/**
 * Null: the inputs name no files. A promise only if they do.
 * @throws ServiceError `invalid_inputs` for files that the owner may not name, `too_large`
 */
export function withNamedFiles(
  files: Pick<InputFiles, 'find'>,
  owner: FileOwner,
  { inputSchema, takesFiles }: Pick<StartableVersion, 'inputSchema' | 'takesFiles'>,
  inputs: JsonValue,
): null | Promise<WithFiles> {
  const named = takesFiles ? fileFields(inputSchema, inputs) : [];
  if (named.length === 0) return null;
  return lookedUp(files, owner, named, (reference) => replaceFiles(inputSchema, inputs, reference));
}

async function lookedUp(
  files: Pick<InputFiles, 'find'>,
  owner: FileOwner,
  named: ReturnType<typeof fileFields>,
  replaced: (reference: (file: JsonObject) => JsonObject) => JsonValue,
): Promise<WithFiles> {
  const fileIds = [...new Set(named.map(({ file }) => fileIdOf(file)))];
  if (fileIds.length > filesMax) throw tooMuch(`The inputs of a run name at most ${filesMax} files.`);
  const found = new Map((await files.find(owner, fileIds)).map((file) => [file.fileId, file]));
  const findings = named
    .filter(({ file }) => !found.has(fileIdOf(file)))
    .slice(0, FINDINGS_MAX)
    .map(({ path }) => ({
      path: pointer(path),
      code: 'unknown_file',
      message: 'names no file that this key or person has sent in the last 24 hours',
    }));
  if (findings.length > 0) throw new ServiceError('invalid_inputs', undefined, { findings });
  const bytes = [...found.values()].reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > bytesMax)
    throw tooMuch(`The files that the inputs of a run name have at most ${mebibytes(bytesMax)} together.`);
  return { inputs: replaced((file) => reference(found, file)), fileIds };
}

function reference(found: ReadonlyMap<FileId, InputFile>, given: JsonObject): JsonObject {
  const file = found.get(fileIdOf(given));
  if (file === undefined) return given;
  const { fileId, name, bytes, sha256, mediaType } = file;
  return { file_id: fileId, path: `inputs/${fileId}/${name}`, name, bytes, sha256, media_type: mediaType };
}

/** Returned unchanged; what is not a file's id is not found. */
function fileIdOf({ file_id: fileId }: JsonObject): FileId {
  return String(fileId) as FileId;
}

function pointer(path: readonly string[]): string {
  return path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function tooMuch(message: string): ServiceError {
  return tooLarge('/inputs', 'input_files', message);
}
