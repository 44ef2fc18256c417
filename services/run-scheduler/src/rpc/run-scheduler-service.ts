// The gateways' service: one session per stream, and the files of runs. A start goes to a shard of this node, or to a
// peer while this node has none.
import type { FileId, OrgId, RunId } from '@methods/base/ids';
import { fromErrorDetail, toErrorDetail } from '@methods/errors/error-detail';
import { ServiceError } from '@methods/errors/service-error';
import type { GatewayItem, RunSchedulerService, StartRun } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { serveFrames } from '@methods/rpc/frame-stream';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import type { RunFolderStore } from '../store/run-folder-store.ts';
import type { PeerSender } from '../wire/peer-link.ts';
import { runView } from '../wire/run-message.ts';
import { type GatewayServices, GatewaySession, type NodeItemInit, type StartReply } from './gateway-session.ts';
import { getRun } from './get-run.ts';
import type { InputFiles } from './input-files.ts';
import type { StartRuns } from './start-run.ts';

export interface NodeState {
  readonly nodeId: string;
  readonly shardsOwned: number;
  readonly draining: boolean;
  readonly ready: boolean;
  readonly shardCount: number;
}

export class RunSchedulerRpc {
  private readonly streams = new Set<(item: NodeItemInit) => void>();

  constructor(
    private readonly options: {
      readonly services: Omit<GatewayServices, 'start'>;
      readonly starts: StartRuns;
      readonly peers: PeerSender;
      readonly folders: Pick<RunFolderStore, 'get'>;
      readonly files: InputFiles;
      readonly state: () => NodeState;
    },
  ) {}

  readonly handlers: ServiceImplementation<typeof RunSchedulerService> = {
    exchange: serveFrames<GatewayItem, NodeItemInit>((connection) => {
      const send = (item: NodeItemInit) => void connection.send(item);
      const session = new GatewaySession(connection, { ...this.options.services, start: this.start });
      this.streams.add(send);
      send(this.status());
      return {
        onItems: (items) => session.received(items),
        onClose: () => {
          this.streams.delete(send);
          session.closed();
        },
        // One run too large to be sent must not end the stream that all calls of a gateway share.
        onUnsendable: ({ callId = 0 }, error) => {
          if (callId !== 0) send({ callId, item: { case: 'error', value: toErrorDetail(error) } });
        },
        onTaken: () => session.taken(),
      };
    }),
    getRunFiles: (request) => this.filesOf(request),
    getRunInputFile: (request) => this.inputFileOf(request),
    putFile: (requests) => this.options.files.put(requests),
    findFiles: async (request) => ({ files: await this.options.files.find(request) }),
    deleteFile: (request) => this.options.files.delete(request),
  };

  private async *filesOf(request: {
    orgId: OrgId;
    runId: RunId;
  }): AsyncGenerator<{ chunk?: Uint8Array; contentId?: string }> {
    const { services, folders } = this.options;
    const { facts, folderId } = await getRun(services.actors, request);
    if (facts.contentId !== null) yield { contentId: facts.contentId };
    const chunks = folderId === null ? null : await folders.get({ folderId, orgId: facts.orgId, runId: facts.runId });
    if (chunks !== null) for await (const chunk of chunks) yield { chunk };
  }

  private async *inputFileOf(request: { orgId: OrgId; runId: RunId; fileId: FileId }) {
    const { services, files } = this.options;
    await getRun(services.actors, request);
    yield* files.ofRun(request, request.fileId);
  }

  /** The node's shards changed, or it drains. */
  stateChanged(): void {
    for (const send of this.streams) send(this.status());
  }

  private status(): NodeItemInit {
    return { callId: 0, item: { case: 'status', value: this.options.state() } };
  }

  private readonly start = async (
    request: StartRun,
    deadlineMs: number,
    onId: (runId: RunId) => void,
    wanted: () => boolean,
  ): Promise<StartReply> => {
    if (this.options.state().shardsOwned === 0) return this.forward(request, deadlineMs, onId);
    const { run, replayed } = await this.options.starts.start(request, onId, wanted);
    // The first reply shows queued, even if a worker got the run in the same commit.
    return { view: () => runView(run), replayed };
  };

  private async forward(request: StartRun, deadlineMs: number, onId: (runId: RunId) => void): Promise<StartReply> {
    // The key makes a repeat harmless, so a peer that does not reply or has no shards either does not fail the start.
    for (const peer of this.options.peers.connected()) {
      const item = { item: { case: 'start' as const, value: { start: request, deadlineMs } } };
      const reply = await this.options.peers.request(peer, item, Math.max(500, deadlineMs || 5_000)).catch(() => null);
      if (reply?.item.case !== 'startReply') continue;
      const { outcome } = reply.item.value;
      if (outcome.case === 'error') {
        const error = fromErrorDetail(outcome.value);
        if (error.code === 'unavailable') continue;
        throw error;
      }
      if (outcome.case !== 'run' || outcome.value.run === undefined) continue;
      const { run, replayed } = outcome.value;
      onId(run.runId);
      return { view: () => run, replayed };
    }
    throw new ServiceError('unavailable', 'No node owns shards yet.');
  }
}
