// Transfers a run's folder to and from the run-scheduler, in chunks of 64 KiB.
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { FolderId } from '@methods/base/ids';
import type { RunFolder } from '@methods/executor/run-folder';
import type { Grant, WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import type { Client } from '@methods/rpc/client';

const CHUNK_BYTES = 64 << 10;
/** Enough for the largest folder over a slow line. A lost server is noticed long before. */
const TRANSFER_MS = 3_600_000;

export class RunFolderTransfer {
  constructor(readonly client: () => Client<typeof WorkerService>) {}

  /**
   * Stores the folder and returns its id. The archive is written to a file beside the folder first: its size is sent
   * before its content, and a few large folders in memory would exhaust a worker. At most one call per run at a time.
   */
  async put(grant: Pick<Grant, 'runId' | 'token'>, folder: RunFolder, signal: AbortSignal): Promise<FolderId> {
    const path = `${folder.dir}.tar.gz`;
    // Created exclusively, so that no link is followed, and read from the same descriptor.
    const archive = await open(path, 'wx+', 0o600);
    try {
      for await (const chunk of folder.archive()) {
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
