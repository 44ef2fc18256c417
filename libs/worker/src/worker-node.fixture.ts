// The run-scheduler that a worker under test talks to: the real gRPC service with the rules for grants and reports that
// a worker relies on, and ways to withhold, refuse and cut off.
import { createHash } from 'node:crypto';
import {
  type FileId,
  type FolderId,
  type KeyId,
  newId,
  newRunId,
  type OrgId,
  type ProductionId,
  type RunId,
  randomToken,
  type VersionId,
} from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import { type Hello, type WorkerItem, WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import { serveFrames } from '@methods/rpc/frame-stream';
import { RpcServer, type ServerTls, served } from '@methods/rpc/server';
import { type NodeItem, NodeStream } from './node-stream.fixture.ts';

type GrantValue = Extract<NodeItem['item'], { case: 'grant' }>['value'];
export type TestGrant = Partial<Omit<GrantValue, '$typeName'>> & { readonly versionId: VersionId };
type Report = Extract<WorkerItem['item'], { case: 'stepRecord' | 'ask' | 'sleep' | 'finish' | 'giveBack' }>;

export interface TestRun {
  readonly runId: RunId;
  readonly token: string;
  lastSeq: number;
  /** What the owner keeps, in order. */
  readonly recorded: Report[];
  ended: boolean;
}

export interface WorkerNodeOptions {
  readonly heartbeatMs?: number;
  readonly leaseMs?: number;
  readonly tls?: ServerTls;
  /** The service key that it takes its workers to have. */
  readonly key?: { readonly orgId: OrgId; readonly keyId: KeyId };
}

const CHUNK_BYTES_MAX = 64 << 10;

export class WorkerNode {
  readonly streams: NodeStream[] = [];
  /** Every report as received, including repeats. */
  readonly reports: Report[] = [];
  readonly runs = new Map<string, TestRun>();
  /** Stored run folders by id. */
  readonly folders = new Map<string, Buffer>();
  /** Content of input files, by id. */
  readonly files = new Map<string, readonly Uint8Array[]>();
  /** A short word for each event, in order. */
  readonly story: string[] = [];
  /** Whether the stream of a worker with this authorization is accepted. */
  admits: (authorization: unknown) => boolean = () => true;
  /** False: a hello gets no answer until `welcomeNow`. */
  welcomes = true;
  /** Features of the welcome. Empty: a node of an earlier release. */
  features = ['last_record'];
  /** False: reports are recorded, and their acknowledgements wait for `acknowledge`. */
  acknowledges = true;
  /** The refusal that a report gets. Null: the usual rules. */
  refusal: (report: Report) => string | null = () => null;
  /** The message of such a refusal. */
  refusalMessage = '';
  /** Runs before each unary call; what it throws fails the call. */
  beforeCall: (
    name: 'getVersion' | 'putLock' | 'putRunFolder' | 'getRunFolder' | 'getInputFile',
  ) => Promise<void> | void = () => {};
  /** By version; write-once for workers. */
  readonly locks = new Map<string, Buffer>();
  /** The published version by method. */
  readonly published = new Map<ProductionId, VersionId>();
  private readonly sources = new Map<
    string,
    { source: Buffer; sha256: string; calls: Record<ProductionId, VersionId> }
  >();
  private readonly waiting: NodeItem[] = [];
  private unsent: (() => void)[] = [];

  private readonly server: RpcServer;

  private constructor(private readonly options: WorkerNodeOptions) {
    this.server = this.makeServer();
  }

  private makeServer(): RpcServer {
    return new RpcServer({
      listen: '127.0.0.1:0',
      services: [
        served(WorkerService, {
          work: serveFrames<WorkerItem, NodeItem>((connection) => {
            const stream = new NodeStream(connection);
            if (!this.admits(stream.authorization)) throw new ServiceError('unauthorized');
            this.streams.push(stream);
            return {
              onItems: (items) => {
                for (const { item } of items) this.received(stream, item);
              },
              onClose: () => stream.ended(),
            };
          }),
          getVersion: async ({ method, versionId }) => {
            await this.beforeCall('getVersion');
            const id = versionId === 'published' ? (this.published.get(method) ?? 'ver_none') : versionId;
            const version = this.sources.get(id);
            if (version === undefined) throw new ServiceError('not_found', 'There is no such version.');
            const lock = this.locks.get(id);
            return { method, versionId: id, ...version, ...(lock && { lock, lockSha256: sha256Of(lock) }) };
          },
          putLock: async ({ versionId, lock }) => {
            await this.beforeCall('putLock');
            const first = this.locks.get(versionId);
            if (first === undefined) this.locks.set(versionId, Buffer.from(lock));
            this.story.push(first === undefined ? 'lock stored' : 'lock refused');
            return { lockSha256: sha256Of(first ?? lock), stored: first === undefined };
          },
          putRunFolder: async (requests) => {
            const chunks: Uint8Array[] = [];
            let stated = 0;
            for await (const { runId, token, bytesTotal, chunk } of requests) {
              if (chunks.length === 0) this.mayTouch(runId, token);
              if (chunk.length > CHUNK_BYTES_MAX) throw new ServiceError('too_large', 'A chunk exceeds 64 KiB.');
              stated = bytesTotal;
              chunks.push(chunk);
            }
            await this.beforeCall('putRunFolder');
            const archive = Buffer.concat(chunks);
            if (archive.length !== stated)
              throw new ServiceError('invalid_request', 'The folder did not arrive whole.');
            const folderId = newId('fld');
            this.folders.set(folderId, archive);
            this.story.push('folder stored');
            return { folderId };
          },
          getRunFolder: (request) => this.folderChunks(request),
          getInputFile: (request) => this.fileChunks(request),
        }),
      ],
      logger: silentLogger,
      graceMs: 200,
      tls: this.options.tls,
    });
  }

  static async start(options: WorkerNodeOptions = {}): Promise<WorkerNode> {
    const node = new WorkerNode(options);
    await node.server.start();
    return node;
  }

  get address(): string {
    return this.options.tls === undefined ? `127.0.0.1:${this.server.port}` : `https://localhost:${this.server.port}`;
  }

  /** The stream opened last. */
  get stream(): NodeStream {
    const stream = this.streams.at(-1);
    if (stream === undefined) throw new Error('no worker has connected');
    return stream;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  /** Returns the version's id. `calls`: the versions bound to its calls. */
  publish(
    source: string,
    {
      sha256 = sha256Of(Buffer.from(source)),
      calls = {},
    }: { sha256?: string; calls?: Record<ProductionId, VersionId> } = {},
  ): VersionId {
    const versionId = newId('ver');
    this.sources.set(versionId, { source: Buffer.from(source), sha256, calls });
    return versionId;
  }

  /** Sent as soon as the worker has given a free place for it. A known run gets a new token. */
  grant(grant: TestGrant): TestRun {
    const { runId = newRunId(0), token = randomToken() } = grant;
    const run: TestRun = { runId, token, lastSeq: 0, recorded: [], ended: false };
    this.runs.set(runId, run);
    const value = {
      method: 'wf_test' as const,
      attempt: 1,
      startedAtMs: 1_800_000_000_000,
      inputsJson: '{}',
      ...grant,
    };
    this.waiting.push({ item: { case: 'grant', value: { ...value, runId, token } } });
    this.giveOut();
    return run;
  }

  /** Sends all withheld acknowledgements, and future ones at once. */
  acknowledge(): void {
    this.acknowledges = true;
    for (const send of this.unsent.splice(0)) send();
  }

  /** Drops the withheld acknowledgements, as the loss of their stream would. */
  forgetAcknowledgements(): void {
    this.acknowledges = true;
    this.unsent = [];
  }

  welcomeNow(): void {
    this.welcomes = true;
    const { heartbeatMs = 15_000, leaseMs = 60_000, key } = this.options;
    this.stream.welcomed = true;
    this.stream.send({
      item: { case: 'welcome', value: { heartbeatMs, leaseMs, nodeId: 'node', features: this.features, ...key } },
    });
  }

  private received(stream: NodeStream, item: WorkerItem['item']): void {
    switch (item.case) {
      case 'hello':
        return this.welcome(stream, item.value);
      case 'credits':
        stream.credit(item.value.count);
        return this.giveOut();
      case 'heartbeat':
        stream.heartbeats.push(item.value.runs.map(({ runId }) => runId));
        return;
      case 'accepted':
        stream.accepted.push(item.value.runId);
        return;
      case 'leave':
        stream.leaving = true;
        stream.send({ item: { case: 'left', value: {} } });
        return;
      case 'stepRecord':
      case 'ask':
      case 'finish':
      case 'sleep':
      case 'giveBack':
        return this.report(stream, item);
    }
  }

  private welcome(stream: NodeStream, hello: Hello): void {
    stream.hello = hello;
    if (this.welcomes) this.welcomeNow();
  }

  private giveOut(): void {
    while (this.waiting[0] !== undefined && this.streams.at(-1)?.takePlace()) {
      this.stream.send(this.waiting.shift() as NodeItem);
    }
  }

  private report(stream: NodeStream, report: Report): void {
    this.reports.push(report);
    const { runId, token, seq } = report.value;
    const { refusalMessage: message } = this;
    const refused = lastRecordOf(report)?.seq ?? seq;
    const refuse = (code: string) =>
      stream.send({ item: { case: 'refused', value: { runId, token, seq: refused, code, message } } });
    const acknowledge = () => void stream.send({ item: { case: 'ack', value: { runId, seq, token } } });
    const run = this.runs.get(runId);
    if (run?.token !== token) return void refuse('stale_attempt');
    const refusal = this.refusal(report);
    if (refusal !== null) return void refuse(refusal);
    const lastRecord = lastRecordOf(report);
    const parts: Report[] =
      lastRecord === undefined ? [report] : [{ case: 'stepRecord', value: { ...lastRecord, runId, token } }, report];
    for (const part of parts) {
      if (part.value.seq <= run.lastSeq) continue;
      if (run.ended) return void refuse('stale_attempt');
      if (part.value.seq !== run.lastSeq + 1) return;
      run.lastSeq = part.value.seq;
      run.recorded.push(part);
      run.ended = part.case !== 'stepRecord';
      this.story.push(part.case === 'stepRecord' ? `record ${part.value.step?.path}` : part.case);
    }
    if (this.acknowledges) acknowledge();
    else this.unsent.push(acknowledge);
  }

  private async *fileChunks({ runId, token, fileId }: { runId: RunId; token: string; fileId: FileId }) {
    await this.beforeCall('getInputFile');
    this.mayTouch(runId, token);
    const chunks = this.files.get(fileId);
    if (chunks === undefined) throw new ServiceError('not_found', 'The run names no such file.');
    this.story.push('file fetched');
    for (const chunk of chunks) yield { chunk };
  }

  private async *folderChunks(request: { runId: RunId; token: string; folderId: FolderId }) {
    await this.beforeCall('getRunFolder');
    this.mayTouch(request.runId, request.token);
    const archive = this.folders.get(request.folderId);
    if (archive === undefined) throw new ServiceError('not_found', 'There is no such run folder.');
    for (let from = 0; from < archive.length; from += 100) yield { chunk: archive.subarray(from, from + 100) };
  }

  private mayTouch(runId: RunId, token: string): void {
    if (this.runs.get(runId)?.token !== token) throw new ServiceError('stale_attempt');
  }
}

function lastRecordOf(report: Report) {
  return report.case === 'stepRecord' || report.case === 'giveBack' ? undefined : report.value.lastRecord;
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
