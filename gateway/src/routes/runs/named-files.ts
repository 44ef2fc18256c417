// Looks up the files that the inputs of a start name and replaces them by references that only the server creates.
import { type FileId, isId } from '@methods/base/ids';
import { plainStreamBytes, SEALED_MEDIA_TYPE } from '@methods/content/sealed-stream-shape';
import { ServiceError } from '@methods/errors/service-error';
import { INPUT_FILE_LIMITS, mebibytes } from '@methods/method/file-limits';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { fileFields, replaceFiles } from '@methods/method/typed-fields';
import type { InputFile, NamedFiles } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { FileOwner, InputFiles } from '../../clients/input-files.ts';
import type { StartableVersion } from '../../clients/method-version.ts';
import { tooLarge } from '../../plugins/error-reply.ts';
import type { DeviceStart } from './start-request.ts';

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
  refuseMissing(named.map(({ file, path }) => ({ file: found.get(fileIdOf(file)), path: pointer(path) })));
  return { inputs: replaced((file) => reference(found, file)), fileIds };
}

/**
 * The files of a start in device mode, whose inputs only its worker can read. Null: it names none. A promise only if it
 * names some. @throws ServiceError as `withNamedFiles`
 */
export function sealedFiles(
  files: Pick<InputFiles, 'find'>,
  owner: FileOwner,
  { files: named }: DeviceStart,
): null | NamedFiles | Promise<NamedFiles> {
  if ('of' in named) {
    if (!isId('run', named.of)) throw new ServiceError('not_found');
    return { ...namedFiles(owner, []), owner: '', runId: named.of };
  }
  return named.length === 0 ? null : sealedOnes(files, owner, named);
}

async function sealedOnes(
  files: Pick<InputFiles, 'find'>,
  owner: FileOwner,
  named: readonly string[],
): Promise<NamedFiles> {
  const fileIds = [...new Set(named)].map((id) => fileIdOf({ file_id: id }));
  const found = new Map((await files.find(owner, fileIds)).map((file) => [file.fileId, file]));
  refuseMissing(
    fileIds.map((id, n) => ({ file: found.get(id), path: `/files/${n}` })),
    true,
  );
  return namedFiles(owner, fileIds);
}

export function namedFiles({ owner }: FileOwner, fileIds: FileId[]): NamedFiles {
  return { $typeName: 'methods.scheduler.v1.NamedFiles', owner, fileIds, runId: '' };
}

/** @throws ServiceError */
function refuseMissing(
  named: readonly { readonly file: InputFile | undefined; readonly path: string }[],
  isSealed = false,
): void {
  const findings = named.flatMap(({ file, path }) => {
    if (file === undefined) return [{ path, ...UNKNOWN }];
    return (file.mediaType === SEALED_MEDIA_TYPE) === isSealed ? [] : [{ path, ...(isSealed ? PLAIN : SEALED) }];
  });
  if (findings.length > 0) {
    throw new ServiceError('invalid_inputs', undefined, { findings: findings.slice(0, FINDINGS_MAX) });
  }
  const each = new Map(named.map(({ file }) => [file?.fileId, file?.bytes ?? 0]));
  const bytes = [...each.values()].reduce((sum, size) => sum + (isSealed ? plainStreamBytes(size) : size), 0);
  if (bytes > bytesMax)
    throw tooMuch(`The files that the inputs of a run name have at most ${mebibytes(bytesMax)} together.`);
}

const UNKNOWN = {
  code: 'unknown_file',
  message: 'names no file that this key or person has sent in the last 24 hours',
};
const PLAIN = { code: 'plain_file', message: 'was not sealed, as a run in device mode needs it' };
const SEALED = { code: 'sealed_file', message: 'was sealed for a run in device mode' };

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
