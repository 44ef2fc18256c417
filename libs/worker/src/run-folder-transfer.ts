// Transfers a run's folder to and from the run-scheduler, in chunks of 64 KiB, and tracks which revision the server
// has.
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { FolderId } from '@methods/base/ids';
import type { RunFolder } from '@methods/executor/run-folder';
import type { Grant, WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import type { Client } from '@methods/rpc/client';

const CHUNK_BYTES = 64 << 10;
/** Enough for the largest folder over a slow line. A lost server is noticed long before. */
const TRANSFER_MS = 3_600_000;

/** Returns an archive as it is stored. */
type Sent = (archive: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

export class RunFolderTransfer {
  constructor(readonly client: () => Client<typeof WorkerService>) {}

  /**
   * Stores the folder and returns its id. The archive is written to a file beside the folder first: its size is sent
   * before its content, and a few large folders in memory would exhaust a worker. At most one call per run at a time.
   */
  async put(
    grant: Pick<Grant, 'runId' | 'token'>,
    folder: RunFolder,
    signal: AbortSignal,
    sent: Sent,
  ): Promise<FolderId> {
    const path = `${folder.dir}.tar.gz`;
    // Created exclusively, so that no link is followed, and read from the same descriptor.
    const archive = await open(path, 'wx+', 0o600);
    try {
      for await (const chunk of sent(folder.archive())) {
        signal.throwIfAborted();
        await archive.writeFile(chunk);
      }
      const { size } = await archive.stat();
      const { folderId } = await this.client().putRunFolder(chunksOf(archive, size, grant), {
        signal,
        timeoutMs: TRANSFER_MS,
      });
      return folderId;
    } finally {
      await archive.close();
      await rm(path, { force: true });
    }
  }

  async *get(grant: Pick<Grant, 'runId' | 'token' | 'folderId'>, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const { runId, token, folderId } = grant;
    if (folderId === '') return;
    const options = { signal, timeoutMs: TRANSFER_MS };
    for await (const { chunk } of this.client().getRunFolder({ runId, token, folderId }, options)) yield chunk;
  }
}

async function* chunksOf(archive: FileHandle, bytesTotal: number, { runId, token }: Pick<Grant, 'runId' | 'token'>) {
  for (let at = 0; at < bytesTotal; ) {
    const { bytesRead, buffer } = await archive.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield { runId, token, bytesTotal, chunk: buffer.subarray(0, bytesRead) };
  }
}

/**
 * Tracks which revision of the run's folder the server has. Files are stored before the record that names them is sent,
 * so an acknowledged step never has to run again for its files.
 */
export class SavedFolder {
  private saving: Promise<void> = Promise.resolve();

  private constructor(
    readonly folder: RunFolder,
    private readonly store: (folder: RunFolder) => Promise<FolderId>,
    private storedId: FolderId | '',
    private storedRevision: number,
  ) {}

  /** `folder` matches the server's copy: `folderId` was unpacked into it, or both are empty. */
  static of(folder: RunFolder, folderId: FolderId | '', store: (folder: RunFolder) => Promise<FolderId>): SavedFolder {
    return new SavedFolder(folder, store, folderId, folder.revision);
  }

  /** Empty when nothing was stored. */
  get folderId(): FolderId | '' {
    return this.storedId;
  }

  /**
   * Stores what the server does not have yet. Saves run one at a time and resolve in order, before the next one begins,
   * so records sent after their saves keep their order. A failed save fails all later ones, since their records name
   * its files.
   */
  save(): Promise<void> {
    this.saving = this.saving.then(() => this.saveNow());
    return this.saving;
  }

  private async saveNow(): Promise<void> {
    const { revision } = this.folder;
    if (revision === this.storedRevision) return;
    this.storedId = await this.store(this.folder);
    this.storedRevision = revision;
  }
}
