// A run's folder to and from the run-scheduler, in chunks of 64 KiB.
import type { RunFolder } from '@methods/executor/run-folder';
import type { Grant, WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import type { Client } from '@methods/rpc/client';

const CHUNK_BYTES = 64 << 10;

export class RunFolderTransfer {
  constructor(private readonly client: () => Client<typeof WorkerService>) {}

  /** The folder's id. */
  async put(grant: Pick<Grant, 'runId' | 'token'>, folder: RunFolder): Promise<string> {
    const packed: Buffer[] = [];
    for await (const chunk of folder.archive()) packed.push(chunk);
    const archive = Buffer.concat(packed);
    const { runId, token } = grant;
    async function* chunks() {
      for (let from = 0; from < archive.length; from += CHUNK_BYTES) {
        const chunk = archive.subarray(from, from + CHUNK_BYTES);
        yield { runId, token, bytesTotal: archive.length, chunk };
      }
    }
    const { folderId } = await this.client().putRunFolder(chunks());
    return folderId;
  }

  async *get(grant: Pick<Grant, 'runId' | 'token' | 'folderId'>): AsyncIterable<Uint8Array> {
    const { runId, token, folderId } = grant;
    for await (const { chunk } of this.client().getRunFolder({ runId, token, folderId })) yield chunk;
  }
}
