// Files in device mode: those for inputs are sealed by the key of their upload, those of a run opened by the key that sealed
// them.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { memberOf } from '@methods/content/archive-member';
import type { ContentKey, FileContentKey } from '@methods/content/device/content-key';
import { openStream, sealStream } from '@methods/content/device/sealed-stream';
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
/** Of a stream: its salt, the length of its first envelope, and what that envelope shows of its key. */
const FINGERPRINT = { from: 22, to: 38 } as const;

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

/** The archive of a run's files, by that of these keys which sealed it. @throws SealedValueError */
export async function* openedFolder(
  keys: readonly ContentKey[],
  contentId: string,
  archive: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const source = archive[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  try {
    while (head.length < FINGERPRINT.to) {
      const { value, done } = await source.next();
      if (done === true) break;
      head = Buffer.concat([head, value]);
    }
    // A run that has saved no files.
    if (head.length === 0) return yield NO_FILES;
    const fingerprint = head.subarray(FINGERPRINT.from, FINGERPRINT.to);
    const key = keys.find((each) => each.fingerprint.equals(fingerprint)) ?? (keys[0] as ContentKey);
    yield* faultsOf(openStream(key.ofRun(contentId), 'folder', after(head, source)));
  } finally {
    await source.return?.();
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
  key: ContentKey,
  reference: SealedReference,
  file: Chunks,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const part of faultsOf(openStream(key.ofRun(reference.content_id), 'file', file))) {
    hash.update(part);
    yield part;
  }
  // The same upload sealed other bytes before: they open too.
  if (hash.digest('hex') !== reference.sha256) {
    throw new SealedValueError('sealed_value_damaged', 'The file is not the one that the inputs name.');
  }
}

async function* after(head: Uint8Array, source: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield head;
  for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value;
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
