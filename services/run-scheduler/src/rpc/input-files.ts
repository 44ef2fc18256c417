// put_file, find_files, delete_file and the files of a run: files that callers send for the inputs of runs. A file is
// hashed and stored while it arrives; at most one row of it is in memory here.
import { createHash } from 'node:crypto';
import { type FileId, newId, type OrgId, type RunId } from '@methods/base/ids';
import { SEALED_MEDIA_TYPE, sealedStreamBytes } from '@methods/content/sealed-stream-shape';
import { ServiceError } from '@methods/errors/service-error';
import { INPUT_FILE_LIMITS, mebibytes } from '@methods/method/file-limits';
import type {
  FindFilesRequest,
  NewFile,
  PutFileRequest,
  StartRun,
} from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { FileStore, StoredFile } from '../store/file-store.ts';

const { fileBytesMax } = INPUT_FILE_LIMITS;
/** Per organization, including files in flight. */
export const FILE_SHARE = { bytesMax: 10 * 1024 ** 3, filesMax: 10_000 };
const ROW_BYTES = 256 * 1024;
const FOUND_MAX = 1_000;
const SHARE_RETRY_MS = 60_000;

interface ArrivedFile {
  readonly file: StoredFile;
  readonly replayed: boolean;
}

export class InputFiles {
  constructor(private readonly store: FileStore) {}

  /** @throws ServiceError; the parts of the file that had arrived are dropped then. */
  async put(requests: AsyncIterable<PutFileRequest>): Promise<ArrivedFile> {
    const iterator = requests[Symbol.asyncIterator]();
    const first = await iterator.next();
    const file = first.done === true ? undefined : first.value.file;
    if (first.done === true || file === undefined)
      throw new ServiceError('invalid_request', 'The file is not described.');
    const { orgId, owner, name, mediaType, bytesMax } = file;
    const allowed = mediaType === SEALED_MEDIA_TYPE ? sealedStreamBytes(fileBytesMax) : fileBytesMax;
    if (!Number.isInteger(bytesMax) || bytesMax < 0 || bytesMax > allowed) throw tooLarge();
    const key = { orgId, fileId: newId('file') };
    if (!(await this.store.begin({ ...key, owner, name, mediaType, bytesMax }))) throw shareUsedUp();
    let arrived: ArrivedFile | null = null;
    try {
      const content = chunksOf(first.value, iterator);
      const whole = await this.receive(key, content, bytesMax);
      arrived = await this.finish(key, file, whole);
      return arrived;
    } finally {
      if (arrived?.file.fileId !== key.fileId) await this.store.drop(key);
    }
  }

  find({ orgId, owner, fileIds }: FindFilesRequest): Promise<StoredFile[]> {
    if (fileIds.length > FOUND_MAX) throw new ServiceError('invalid_request', 'Too many files are asked for.');
    return this.store.find(orgId, owner, fileIds);
  }

  async delete({ orgId, owner, fileId }: { orgId: OrgId; owner: string; fileId: FileId }): Promise<object> {
    if (!(await this.store.remove(orgId, owner, fileId))) throw new ServiceError('not_found', 'There is no such file.');
    return {};
  }

  /**
   * Keeps the run's files as long as the run; called before the run is committed. False: one of them may no longer be
   * named.
   */
  async keepFor(run: { orgId: OrgId; runId: RunId }, files: NonNullable<StartRun['files']>): Promise<boolean> {
    if (files.runId !== '') return this.store.keepLike(run, files.runId);
    return this.store.keepFor(run, files.owner, files.fileIds);
  }

  /** Returns a file that the run names: first its description, then its content. @throws ServiceError `not_found` */
  async *ofRun(
    run: { orgId: OrgId; runId: RunId },
    fileId: FileId,
  ): AsyncGenerator<{ file: StoredFile } | { chunk: Uint8Array }> {
    const file = await this.store.namedBy(run, fileId);
    if (file === null) throw new ServiceError('not_found', 'The run names no such file.');
    yield { file };
    for await (const chunk of this.store.content(run.orgId, file)) yield { chunk };
  }

  async letGo(run: { orgId: OrgId; runId: RunId }): Promise<void> {
    await this.store.letGo(run);
  }

  private async receive(
    key: { orgId: OrgId; fileId: FileId },
    content: AsyncIterable<Uint8Array>,
    bytesMax: number,
  ): Promise<{ bytes: number; sha256: string }> {
    const hash = createHash('sha256');
    let held: Uint8Array[] = [];
    let heldBytes = 0;
    let bytes = 0;
    let position = 0;
    const keep = async () => {
      const row = Buffer.concat(held);
      held = [];
      heldBytes = 0;
      if (row.length > 0) await this.store.append(key, position++, row);
    };
    for await (const chunk of content) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLarge();
      hash.update(chunk);
      held.push(chunk);
      heldBytes += chunk.length;
      if (heldBytes >= ROW_BYTES) await keep();
    }
    await keep();
    return { bytes, sha256: hash.digest('hex') };
  }

  private async finish(
    key: { orgId: OrgId; fileId: FileId },
    described: NewFile,
    whole: { bytes: number; sha256: string },
  ): Promise<ArrivedFile> {
    const { owner, name, mediaType, idempotencyHash } = described;
    const hash = idempotencyHash.length === 0 ? null : idempotencyHash;
    // At the second try the hash is free again, or its upload is found.
    for (let i = 0; i < 2; i++) {
      const file = await this.store.finish(key, { ...whole, idempotencyHash: hash });
      if (file !== null) return { file, replayed: false };
      const earlier =
        hash && (await this.store.byIdempotencyHash({ orgId: key.orgId, owner, name, mediaType }, whole.sha256, hash));
      if (earlier === null) continue;
      if (earlier.sha256 === whole.sha256 && earlier.name === name && earlier.mediaType === mediaType) {
        return { file: earlier, replayed: true };
      }
      throw new ServiceError('idempotency_conflict', 'This idempotency key was used for another file.');
    }
    throw new ServiceError('unavailable', 'Another upload with this key is in progress.');
  }
}

/** @throws ServiceError if the sender leaves before it has marked the file complete. */
async function* chunksOf(first: PutFileRequest, rest: AsyncIterator<PutFileRequest>): AsyncGenerator<Uint8Array> {
  for (let next: IteratorResult<PutFileRequest> = { value: first }; next.done !== true; next = await rest.next()) {
    const { chunk, last } = next.value;
    if (chunk.length > 0) yield chunk;
    if (last) return;
  }
  throw new ServiceError('invalid_request', 'The sender left before the end of the file.');
}

function tooLarge(): ServiceError {
  const message = `A file has at most ${mebibytes(fileBytesMax)}, and no more bytes than were announced.`;
  return new ServiceError('too_large', message, { findings: [{ path: '', code: 'file_bytes', message }] });
}

function shareUsedUp(): ServiceError {
  const max = FILE_SHARE.bytesMax / 1024 ** 3;
  const message = `The files of an organization have at most ${max} GiB and are at most ${FILE_SHARE.filesMax}.`;
  return new ServiceError('rate_limited', message, {
    facts: { share: 'organization', limit: String(FILE_SHARE.bytesMax) },
    findings: [{ path: '', code: 'stored_files', message }],
    retryAfterMs: SHARE_RETRY_MS,
  });
}
