// Forwards the files that callers send for the inputs of runs to a run-scheduler node as they arrive.

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { FileId, OrgId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import {
  type InputFile,
  type NewFile,
  type PutFileRequestSchema,
  RunSchedulerService,
} from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';

/** A sender may be slow; a dead node is noticed long before this. */
const PUT_MS = 1_800_000;
const CALL_MS = 5_000;
const CHUNK_BYTES = 64 * 1024;

export interface FileOwner {
  readonly orgId: OrgId;
  /** The key or the person. */
  readonly owner: string;
}

export class InputFiles implements Stoppable {
  private readonly clients: readonly Client<typeof RunSchedulerService>[];
  private turn = 0;

  /** `host:port` of each node. */
  constructor(addresses: readonly string[]) {
    this.clients = addresses.map((address) => rpcClient(RunSchedulerService, address));
  }

  /** @throws ServiceError; a body cannot be sent twice, so the caller repeats an upload that fails with unavailable. */
  async put(
    file: Omit<NewFile, '$typeName'>,
    body: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<{ file: InputFile; replayed: boolean }> {
    const client = await this.reachable(file);
    const { file: stored, replayed } = await client.putFile(messages(file, body), { signal, timeoutMs: PUT_MS });
    if (stored === undefined) throw new ServiceError('internal');
    return { file: stored, replayed };
  }

  /** Returns the files that their owner may name now. @throws ServiceError */
  async find({ orgId, owner }: FileOwner, fileIds: readonly FileId[]): Promise<readonly InputFile[]> {
    const request = { orgId, owner, fileIds: [...fileIds] };
    return (await this.anywhere((client) => client.findFiles(request, { timeoutMs: CALL_MS }))).files;
  }

  /** @throws ServiceError `not_found` */
  async delete({ orgId, owner }: FileOwner, fileId: FileId): Promise<void> {
    await this.anywhere((client) => client.deleteFile({ orgId, owner, fileId }, { timeoutMs: CALL_MS }));
  }

  stop(): void {
    for (const client of this.clients) client.close();
  }

  /** Returns a node that answers: once the body flows it is too late for another one. */
  private reachable({ orgId, owner }: FileOwner): Promise<Client<typeof RunSchedulerService>> {
    return this.anywhere(async (client) => {
      await client.findFiles({ orgId, owner, fileIds: [] }, { timeoutMs: CALL_MS });
      return client;
    });
  }

  private async anywhere<T>(ask: (client: Client<typeof RunSchedulerService>) => Promise<T>): Promise<T> {
    let refusal: unknown = new ServiceError('unavailable');
    const first = this.turn++;
    for (let i = 0; i < this.clients.length; i++) {
      try {
        return await ask(this.clients[(first + i) % this.clients.length] as Client<typeof RunSchedulerService>);
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'unavailable') throw error;
        refusal = error;
      }
    }
    throw refusal;
  }
}

async function* messages(
  { orgId, owner, name, mediaType, bytesMax, idempotencyHash }: Omit<NewFile, '$typeName'>,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<MessageInitShape<typeof PutFileRequestSchema>> {
  yield { file: { orgId, owner, name, mediaType, bytesMax, idempotencyHash } };
  for await (const bytes of body) {
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
      yield { chunk: bytes.subarray(from, from + CHUNK_BYTES) };
    }
  }
  yield { last: true };
}
