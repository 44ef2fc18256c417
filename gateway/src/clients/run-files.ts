// The files of runs, which any run-scheduler node streams from the database.
import type { FileId, OrgId, RunId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import { type InputFile, RunSchedulerService } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { type CallOptions, type Client, rpcClient } from '@methods/rpc/client';
import { InputFiles } from './input-files.ts';

/** A reader may be slow; a dead node is noticed long before this. */
const STREAM_MS = 600_000;

type SchedulerClient = Client<typeof RunSchedulerService>;

export interface RunArchive {
  /** Of a run in device mode; empty if it has saved no files. Otherwise a gzip tar. */
  readonly isSealed: boolean;
  readonly content: AsyncIterable<Uint8Array>;
}

export class RunFiles implements Stoppable {
  private readonly clients: readonly SchedulerClient[];
  private turn = 0;

  /** The files that callers send for the inputs of runs. */
  readonly sent: InputFiles;

  /** `host:port` of each node. */
  constructor(addresses: readonly string[]) {
    this.sent = new InputFiles(addresses);
    this.clients = addresses.map((address) => rpcClient(RunSchedulerService, address));
  }

  /**
   * Returns the archive of a run's files; null: it has saved none. Resolves once the first part is read, so that a refusal
   * arrives before anything is sent. @throws ServiceError
   */
  async read(run: { orgId: OrgId; runId: RunId }, signal: AbortSignal): Promise<RunArchive | null> {
    const parts = await this.begun((client, options) => client.getRunFiles(run, options), signal);
    if (parts === null) return null;
    const { chunk, contentId } = parts.first;
    return { isSealed: contentId !== '', content: rest(chunk, parts.more) };
  }

  /** Returns a file that the inputs of a run name. @throws ServiceError `not_found` if they name no such file */
  async readInput(
    file: { orgId: OrgId; runId: RunId; fileId: FileId },
    signal: AbortSignal,
  ): Promise<{ file: InputFile; content: AsyncIterable<Uint8Array> }> {
    const parts = await this.begun((client, options) => client.getRunInputFile(file, options), signal);
    if (parts?.first.file === undefined) throw new ServiceError('internal');
    return { file: parts.first.file, content: rest(parts.first.chunk, parts.more) };
  }

  stop(): void {
    this.sent.stop();
    for (const client of this.clients) client.close();
  }

  /** Returns the reply of the first node that answers; null: it is empty. */
  private async begun<Message>(
    ask: (client: SchedulerClient, options: CallOptions) => AsyncIterable<Message>,
    signal: AbortSignal,
  ): Promise<{ first: Message; more: AsyncIterator<Message> } | null> {
    let refusal: unknown;
    const turn = this.turn++;
    for (let i = 0; i < this.clients.length; i++) {
      const client = this.clients[(turn + i) % this.clients.length] as SchedulerClient;
      const more = ask(client, { signal, timeoutMs: STREAM_MS })[Symbol.asyncIterator]();
      try {
        const begin = await more.next();
        return begin.done === true ? null : { first: begin.value, more };
      } catch (error) {
        // `internal`: a node of an earlier release may not know the call.
        if (!(error instanceof ServiceError) || (error.code !== 'unavailable' && error.code !== 'internal'))
          throw error;
        refusal = error;
      }
    }
    throw refusal;
  }
}

async function* rest(first: Uint8Array, parts: AsyncIterator<{ chunk: Uint8Array }>): AsyncGenerator<Uint8Array> {
  try {
    if (first.length > 0) yield first;
    for (let next = await parts.next(); next.done !== true; next = await parts.next()) yield next.value.chunk;
  } finally {
    // The reader left early: the node must stop.
    await parts.return?.();
  }
}
