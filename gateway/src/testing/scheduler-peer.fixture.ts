// A run-scheduler node for the gateway's own tests: real gRPC in front of a RunBook.

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { OrgId } from '@methods/base/ids';
import { toErrorDetail } from '@methods/errors/error-detail';
import type { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import { BulkService } from '@methods/proto/scheduler/v1/bulk_service_pb';
import { QuestionService } from '@methods/proto/scheduler/v1/question_service_pb';
import { RunPartsService } from '@methods/proto/scheduler/v1/run_parts_service_pb';
import {
  type GatewayItem,
  NewsDetail,
  type OrganizationNewsSchema,
  QuestionChange,
  RunSchedulerService,
  type StartRun,
} from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { StatisticsService } from '@methods/proto/scheduler/v1/statistics_service_pb';
import type { FrameConnection } from '@methods/rpc/frame-connection';
import { type SentItem, serveFrames } from '@methods/rpc/frame-stream';
import { RpcServer, served } from '@methods/rpc/server';
import { PeerService } from './peer-service.fixture.ts';
import type { RunBook } from './run-book.fixture.ts';

type Down = SentItem<(typeof RunSchedulerService.method.exchange)['output']>;

export class SchedulerPeer {
  readonly received: GatewayItem[] = [];
  readonly watched = new Set<string>();
  /** Runs whose every change is requested. */
  readonly stepwise = new Set<string>();
  /** Takes requests and answers none. */
  frozen = false;
  /** Commits starts, but its replies are lost. */
  losesStartReplies = false;
  /** Ends the stream of a call with this error. */
  endsStreamOver: (item: GatewayItem) => ServiceError | null = () => null;
  /** Streams that gateways have opened. */
  streams = 0;
  shardsOwned = 256;
  /** 0: like nodes before organizations could be followed. */
  shardCount = 256;
  /** By organization and detail, those that a gateway follows. */
  readonly followed = new Set<string>();
  draining = false;
  /** Announces with the reply to an answer that the next rest will be pushed, as nodes of this release do. */
  pushesAfterAnswers = true;
  /** Called when an answer counts, before it is replied to. */
  onAnswered: (run: RunView) => void = () => {};
  /** Called after each start was replied to. */
  onStarted: (run: RunView, start: StartRun) => void = () => {};
  /** Its replies about questions; a test adds the calls it needs with `answer`. */
  readonly questions = new PeerService(QuestionService, () => {});
  readonly bulk = new PeerService(BulkService, () => {});
  readonly parts = new PeerService(RunPartsService, () => {});
  readonly statistics = new PeerService(StatisticsService, () => {});
  private readonly connections = new Set<FrameConnection<Down>>();
  private server: RpcServer | null = null;
  private port = 0;

  constructor(private readonly book: RunBook) {}

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Reports whether a gateway has its stream and this node's status. */
  get linked(): boolean {
    return this.connections.size > 0;
  }

  async start(): Promise<void> {
    this.server = new RpcServer({
      listen: `127.0.0.1:${this.port}`,
      services: [
        served(RunSchedulerService, {
          exchange: serveFrames((connection) => this.accept(connection)),
          getRunFiles: (request) => this.book.files(request),
          getRunInputFile: (request) => this.book.inputFile(request),
          putFile: (requests) => this.book.sent.put(requests),
          findFiles: async (request) => ({ files: this.book.sent.find(request) }),
          deleteFile: async (request) => this.book.sent.delete(request),
        }),
        this.questions.served,
        this.parts.served,
        this.bulk.served,
        this.statistics.served,
      ],
      logger: silentLogger,
      graceMs: 0,
    });
    await this.server.start();
    this.port = this.server.port;
  }

  /** As if killed: every stream breaks at once. */
  async stop(): Promise<void> {
    await this.server?.stop();
    this.server = null;
  }

  push(run: RunView): void {
    for (const connection of this.connections) connection.send({ callId: 0, item: { case: 'push', value: run } });
  }

  /** Pushes news like a node that commits this; people get the question of a run that waits. */
  news(orgId: OrgId, detail: NewsDetail, run: RunView, stepsLeftOut = false): void {
    if (!this.followed.has(`${orgId} ${detail}`)) return;
    const { runId, method, question } = run;
    const change = QuestionChange.ASKED;
    const questions =
      question && detail === NewsDetail.CHANGES
        ? [{ change, runId, method, questionId: question.id, step: question.step }]
        : [];
    this.tell({ orgId, detail, run, stepsLeftOut, questions });
  }

  missed(orgId: OrgId, detail: NewsDetail): void {
    this.tell({ orgId, detail, missed: true });
  }

  tellStatus(): void {
    for (const connection of this.connections) connection.send(this.status());
  }

  count(kind: GatewayItem['item']['case']): number {
    return this.received.filter(({ item }) => item.case === kind).length;
  }

  private tell(value: MessageInitShape<typeof OrganizationNewsSchema>): void {
    for (const connection of this.connections) connection.send({ callId: 0, item: { case: 'news', value } });
  }

  private accept(connection: FrameConnection<Down>) {
    this.connections.add(connection);
    this.streams++;
    if (!this.frozen) connection.send(this.status());
    return {
      onItems: (items: GatewayItem[]) => {
        for (const item of items) this.handle(connection, item);
      },
      onClose: () => {
        this.connections.delete(connection);
        this.followed.clear();
      },
    };
  }

  private status(): Down {
    const value = {
      nodeId: this.address,
      shardsOwned: this.shardsOwned,
      draining: this.draining,
      ready: true,
      shardCount: this.shardCount,
    };
    return { callId: 0, item: { case: 'status', value } };
  }

  private handle(connection: FrameConnection<Down>, item: GatewayItem): void {
    this.received.push(item);
    if (this.frozen) return;
    const ending = this.endsStreamOver(item);
    if (ending !== null) return connection.close(ending);
    const { callId } = item;
    try {
      if (item.item.case === 'list') {
        connection.send({ callId, item: { case: 'page', value: this.book.list(item.item.value) } });
        return;
      }
      if (item.item.case === 'getStart') {
        connection.send({ callId, item: { case: 'start', value: this.book.startOf(item.item.value) } });
        return;
      }
      if (item.item.case === 'follow') {
        const { orgId, detail, stop } = item.item.value;
        if (stop) this.followed.delete(`${orgId} ${detail}`);
        else if (this.shardCount > 0) {
          this.followed.add(`${orgId} ${detail}`);
          this.tell({ orgId, detail, began: true });
        }
        return;
      }
      const reply = this.reply(item);
      if (reply === null) return;
      if (item.item.case === 'start' && this.losesStartReplies) return;
      connection.send({ callId, item: { case: 'run', value: reply } });
      if (item.item.case === 'start') this.onStarted(reply.run, item.item.value);
    } catch (error) {
      connection.send({ callId, item: { case: 'error', value: toErrorDetail(error) } });
    }
  }

  private reply({ item, unwatched }: GatewayItem): { run: RunView; replayed: boolean; watched?: boolean } | null {
    switch (item.case) {
      case 'start':
        return this.book.start(item.value);
      case 'lookup':
        return this.book.lookup(item.value);
      case 'get':
        return { run: this.book.get(item.value.orgId, item.value.runId), replayed: false };
      case 'watch':
        this.watched.add(item.value.runId);
        if (item.value.steps) this.stepwise.add(item.value.runId);
        return { run: this.book.get(item.value.orgId, item.value.runId), replayed: false };
      case 'unwatch':
        this.watched.delete(item.value.runId);
        this.stepwise.delete(item.value.runId);
        return null;
      case 'answer': {
        const run = this.book.answer(item.value);
        this.onAnswered(run);
        return { run, replayed: false, watched: this.pushesAfterAnswers && !unwatched };
      }
      case 'cancel':
        return { run: this.book.cancel(item.value.orgId, item.value.runId), replayed: false };
      default:
        return null;
    }
  }
}
