// A run's folder to and from the run-scheduler, in chunks of 64 KiB.
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { RunFolder } from '@methods/executor/run-folder';
import type { Grant, WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import type { Client } from '@methods/rpc/client';

const CHUNK_BYTES = 64 << 10;
/** For the largest folder over a slow line; a server that is gone is noticed long before. */
const TRANSFER_MS = 3_600_000;

export class RunFolderTransfer {
  constructor(private readonly client: () => Client<typeof WorkerService>) {}

  /**
   * The folder's id. Its archive stands beside it on the way: the size must be told first, and a few large folders in
   * memory would end a worker. One call a run at a time.
   */
  async put(grant: Pick<Grant, 'runId' | 'token'>, folder: RunFolder, signal: AbortSignal): Promise<string> {
    const archive = `${folder.dir}.tar.gz`;
    try {
      await pipeline(folder.archive(), createWriteStream(archive, { mode: 0o600 }), { signal });
      const { size } = await stat(archive);
      const { folderId } = await this.client().putRunFolder(chunksOf(archive, size, grant), {
        signal,
        timeoutMs: TRANSFER_MS,
      });
      return folderId;
    } finally {
      await rm(archive, { force: true });
    }
  }

  async *get(grant: Pick<Grant, 'runId' | 'token' | 'folderId'>, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const { runId, token, folderId } = grant;
    const options = { signal, timeoutMs: TRANSFER_MS };
    for await (const { chunk } of this.client().getRunFolder({ runId, token, folderId }, options)) yield chunk;
  }
}

async function* chunksOf(archive: string, bytesTotal: number, { runId, token }: Pick<Grant, 'runId' | 'token'>) {
  for await (const chunk of createReadStream(archive, { highWaterMark: CHUNK_BYTES })) {
    yield { runId, token, bytesTotal, chunk: chunk as Buffer };
  }
}
