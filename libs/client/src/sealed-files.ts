// Files in device mode: those for inputs are sealed by the key of their upload, those of a run opened by the key that sealed
// them.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { memberOf } from '@methods/content/archive-member';
import type { FileContentKey } from '@methods/content/device/content-key';
import { openStream, type StreamKeys, sealStream } from '@methods/content/device/sealed-stream';
import { SealedValueError as Fault } from '@methods/content/device/sealed-value-error';
import { ArchiveRefused, MemberNames } from '@methods/content/member-names';
import type { SealedReference } from '@methods/content/sealed-file-reference';
import { INPUT_FILE_LIMITS, mebibytes } from '@methods/method/file-limits';
import { InvalidRequestError, SealedValueError } from './errors.ts';
import { unreadable } from './run-events.ts';

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

const { fileBytesMax } = INPUT_FILE_LIMITS;
/** Two empty blocks end a tar. */
const NO_FILES = gzipSync(Buffer.alloc(1_024));

/** One upload. Each of its tries sends the same bytes. */
export class SealedUpload {
  /** Why the file cannot be sent at all. */
  fault: InvalidRequestError | null = null;
  private bytes = 0;
  private hash = createHash('sha256');

  constructor(private readonly file: FileContentKey) {}

  sealed(plain: Chunks): AsyncGenerator<Uint8Array> {
    this.bytes = 0;
    this.hash = createHash('sha256');
    return sealStream(this.file.key, 'file', this.counted(plain), this.file);
  }

  /** What inputs name the file by, once it was sent. */
  reference(fileId: string, { name, mediaType }: { readonly name: string; readonly mediaType: string }) {
    const sha256 = this.hash.copy().digest('hex');
    const { contentId: content_id } = this.file;
    return { file_id: fileId, content_id, name, bytes: this.bytes, sha256, media_type: mediaType };
  }

  private async *counted(plain: Chunks): AsyncGenerator<Uint8Array> {
    for await (const part of plain) {
      this.bytes += part.length;
      if (this.bytes > fileBytesMax) {
        this.fault = fileTooLarge();
        throw this.fault;
      }
      this.hash.update(part);
      yield part;
    }
  }
}

/** The service sees neither the name nor the plain size of a sealed file. @throws InvalidRequestError */
export function checkSealedFile(name: string, bytes: number | undefined): void {
  if (bytes !== undefined && bytes > fileBytesMax) throw fileTooLarge();
  try {
    if (name.includes('/')) throw new ArchiveRefused('a name holds a slash');
    new MemberNames(1).add('file', name);
  } catch (error) {
    if (!(error instanceof ArchiveRefused)) throw error;
    const message = `This is no name of a file: ${error.message}.`;
    throw new InvalidRequestError('invalid_request', message, { details: [{ path: '', code: 'file_name', message }] });
  }
}

/** The archive of a run's files. @throws SealedValueError */
export async function* openedFolder(keys: StreamKeys, archive: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isEmpty = true;
  async function* noted(): AsyncGenerator<Uint8Array> {
    for await (const part of archive) {
      isEmpty &&= part.length === 0;
      yield part;
    }
  }
  try {
    yield* faultsOf(openStream(keys, 'folder', noted()));
  } catch (error) {
    if (!isEmpty || !(error instanceof SealedValueError)) throw error;
    // A run that has saved no files.
    yield NO_FILES;
  }
}

/** The bytes of one file of an opened archive; null: it has no such file. @throws SealedValueError */
export async function memberIn(
  archive: AsyncIterable<Uint8Array>,
  path: string,
): Promise<AsyncIterable<Uint8Array> | null> {
  try {
    return (await memberOf(archive, path))?.content ?? null;
  } catch (error) {
    throw error instanceof ArchiveRefused ? unreadable('the archive of the files is damaged') : error;
  }
}

/** A file of inputs, as their sealed reference describes it. @throws SealedValueError */
export async function* openedInputFile(
  keys: StreamKeys,
  { sha256 }: SealedReference,
  file: Chunks,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const part of faultsOf(openStream(keys, 'file', file))) {
    hash.update(part);
    yield part;
  }
  // The same upload sealed other bytes before: they open too.
  if (hash.digest('hex') !== sha256) {
    throw new SealedValueError('sealed_value_damaged', 'The file is not the one that the inputs name.');
  }
}

async function* faultsOf(opened: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* opened;
  } catch (error) {
    if (error instanceof Fault) throw new SealedValueError(error.code, error.message, { cause: error });
    throw error;
  }
}

function fileTooLarge(): InvalidRequestError {
  const message = `A file has at most ${mebibytes(fileBytesMax)}.`;
  return new InvalidRequestError('too_large', message, { details: [{ path: '', code: 'file_bytes', message }] });
}
