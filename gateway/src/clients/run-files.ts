// The files that runs have saved, as any run-scheduler node streams them out of the database.
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import { RunSchedulerService } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';
import { InputFiles } from './input-files.ts';

/** A reader may be slow; a node that is gone is noticed long before. */
const STREAM_MS = 600_000;

export class RunFiles implements Stoppable {
  private readonly clients: readonly Client<typeof RunSchedulerService>[];
  private turn = 0;

  /** Those that callers send, for the inputs of runs. */
  readonly sent: InputFiles;

  /** `host:port` of each node. */
  constructor(addresses: readonly string[]) {
    this.sent = new InputFiles(addresses);
    this.clients = addresses.map((address) => rpcClient(RunSchedulerService, address));
  }

  /**
   * The archive of a run's files, a gzip tar; null: it has saved none. The first part is at hand when this resolves, so
   * that what refuses it is told before anything was sent. @throws ServiceError
   */
  async read(run: { orgId: string; runId: string }, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | null> {
    let refusal: unknown;
    const first = this.turn++;
    for (let i = 0; i < this.clients.length; i++) {
      const client = this.clients[(first + i) % this.clients.length];
      const parts = client?.getRunFiles(run, { signal, timeoutMs: STREAM_MS })[Symbol.asyncIterator]();
      if (parts === undefined) break;
      try {
        const begin = await parts.next();
        return begin.done === true ? null : rest(begin.value.chunk, parts);
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'unavailable') throw error;
        refusal = error;
      }
    }
    throw refusal;
  }

  stop(): void {
    this.sent.stop();
    for (const client of this.clients) client.close();
  }
}

async function* rest(first: Uint8Array, parts: AsyncIterator<{ chunk: Uint8Array }>): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    for (let next = await parts.next(); next.done !== true; next = await parts.next()) yield next.value.chunk;
  } finally {
    // A reader that left early: the node must not go on.
    await parts.return?.();
  }
}
