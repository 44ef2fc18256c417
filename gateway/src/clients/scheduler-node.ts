// The stream to one run-scheduler node, which is dialled again whenever it ends, and the state of the node that it
// reports.

import type { Backoff } from '@methods/base/backoff';
import type { Clock, Timer } from '@methods/base/clock';
import type { OrgId, RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import type {
  GatewayItem,
  NewsDetail,
  NodeItem,
  NodeStatus,
} from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { FrameConnection, FrameHandlers } from '@methods/rpc/frame-connection';

export type CallItem = GatewayItem['item'];

/** A call as the stream carries it. */
export interface NodeCall {
  /** The call_id on the stream, the same on every node that gets the call. */
  readonly id: number;
  readonly item: CallItem;
  readonly requestId: string;
  /** Of a start: no caller waits for the run. */
  readonly unwatched: boolean;
  /** Monotonic ms. */
  readonly deadlineAtMs: number;
}

export interface SchedulerNodeEvents {
  /** Called for a reply, an error or a push; status items are handled here. */
  onItem(node: SchedulerNode, item: NodeItem): void;
  /** A call was not sent: no message can carry it, to this node or any other. */
  onUnsendable(callId: number, error: ServiceError): void;
  /** The node has reported its status, the first time or again. */
  onStatus(node: SchedulerNode): void;
  /**
   * The stream ended; these calls get no reply. `refused`: the content of a call ended it, so one of them may be the
   * cause.
   */
  onLost(node: SchedulerNode, callIds: readonly number[], refused: boolean): void;
}

export interface SchedulerNodeOptions {
  readonly address: string;
  readonly dial: (handlers: FrameHandlers<NodeItem, GatewayItem>) => FrameConnection<GatewayItem>;
  readonly clock: Clock;
  readonly backoff: Backoff;
  readonly logger: Logger;
  readonly events: SchedulerNodeEvents;
}

// A node that accepts connections and then sends nothing (frozen at the handshake) is dialled again after this time.
const STATUS_WAIT_MS = 5_000;
const SUSPECTED_MS = 5_000;

export class SchedulerNode {
  private connection: FrameConnection<GatewayItem> | null = null;
  private status: NodeStatus | null = null;
  private readonly inFlight = new Map<number, number>();
  private heardAtMs = 0;
  private timer: Timer | null = null;
  private stopped = false;
  private suspectedUntilMs = 0;

  constructor(private readonly options: SchedulerNodeOptions) {}

  get address(): string {
    return this.options.address;
  }

  /** 0: nothing can be sent. Higher is better: owns shards, ready, not draining, not suspected. */
  get rank(): number {
    if (this.connection === null || this.status === null) return 0;
    if (this.options.clock.monotonicMs() < this.suspectedUntilMs) return 1;
    if (this.status.draining) return 2;
    return this.status.ready && this.status.shardsOwned > 0 ? 4 : 3;
  }

  /** Ready by the node's own report. */
  get ready(): boolean {
    return this.rank >= 3 && this.status?.ready === true;
  }

  /** The number of shards that the node reports to own, and the number of all shards; 0 if unknown. */
  get shards(): { readonly owned: number; readonly all: number } {
    return { owned: this.status?.shardsOwned ?? 0, all: this.status?.shardCount ?? 0 };
  }

  get inFlightCalls(): number {
    return this.inFlight.size;
  }

  inFlightIds(): number[] {
    return [...this.inFlight.keys()];
  }

  start(): void {
    this.dial();
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
    this.connection?.close();
  }

  /** Returns false when the stream is gone; `onLost` is then called, or has been. */
  send(call: NodeCall, nowMs: number): boolean {
    const sent =
      this.connection?.send({
        $typeName: 'methods.scheduler.v1.GatewayItem',
        callId: call.id,
        deadlineMs: Math.max(1, Math.round(call.deadlineAtMs - nowMs)),
        requestId: call.requestId,
        item: call.item,
        unwatched: call.unwatched,
      }) ?? false;
    if (sent) this.inFlight.set(call.id, nowMs);
    return sent;
  }

  /** The call is settled: the node owes no answer any more. */
  forget(callId: number): void {
    this.inFlight.delete(callId);
  }

  /**
   * The node is silent while others answer: it is used only if there is no other, until it sends something again. Not
   * permanently, since a node that was frozen may have nothing left to send.
   */
  suspect(nowMs: number): void {
    this.suspectedUntilMs = nowMs + SUSPECTED_MS;
  }

  unwatch(runId: RunId): void {
    this.tell({ case: 'unwatch', value: { $typeName: 'methods.scheduler.v1.UnwatchRun', runId } });
  }

  /** Returns false if it was not sent. It must be sent again on a new stream. */
  follow(orgId: OrgId, detail: NewsDetail, stop: boolean): boolean {
    const value = { $typeName: 'methods.scheduler.v1.FollowOrganization' as const, orgId, detail, stop };
    return this.tell({ case: 'follow', value });
  }

  /** Returns how long the node has owed an answer and sent nothing, in ms; 0 when it owes none. */
  silentMs(nowMs: number): number {
    const oldest = this.inFlight.values().next();
    return oldest.done ? 0 : nowMs - Math.max(oldest.value, this.heardAtMs);
  }

  private tell(item: CallItem): boolean {
    const call = { callId: 0, deadlineMs: 0, requestId: '', item, unwatched: false };
    return this.connection?.send({ $typeName: 'methods.scheduler.v1.GatewayItem', ...call }) ?? false;
  }

  private dial(): void {
    if (this.stopped) return;
    const connection = this.options.dial({
      onItems: (items) => this.received(items),
      onUnsendable: ({ callId }, error) => {
        if (callId === 0) return;
        this.inFlight.delete(callId);
        this.options.events.onUnsendable(callId, error);
      },
      onClose: (error) => this.lost(error),
    });
    this.connection = connection;
    this.timer = this.options.clock.after(STATUS_WAIT_MS, () => {
      if (this.status === null) connection.close(new ServiceError('unavailable', 'The node does not respond.'));
    });
  }

  private received(items: readonly NodeItem[]): void {
    this.heardAtMs = this.options.clock.monotonicMs();
    this.suspectedUntilMs = 0;
    for (const item of items) {
      if (item.item.case === 'status') {
        this.status = item.item.value;
        this.options.backoff.reset();
        this.options.events.onStatus(this);
      } else {
        if (item.callId !== 0) this.inFlight.delete(item.callId);
        this.heard(item);
      }
    }
  }

  // An item that cannot be handled must not end the stream that all calls share.
  private heard(item: NodeItem): void {
    try {
      this.options.events.onItem(this, item);
    } catch (error) {
      this.options.logger.error({ node: this.address, item: item.item.case, error }, 'item of a node failed');
    }
  }

  private lost(error: ServiceError | null): void {
    const { address, backoff, clock, events, logger } = this.options;
    const callIds = this.inFlightIds();
    const wasKnown = this.status !== null;
    this.connection = null;
    this.status = null;
    this.suspectedUntilMs = 0;
    this.inFlight.clear();
    this.timer?.cancel();
    if (!this.stopped) {
      this.timer = clock.after(backoff.nextMs(), () => this.dial());
      if (wasKnown) logger.warn({ node: address, calls: callIds.length, error }, 'lost a run-scheduler node');
    }
    // A node that died, was cut off or is stopping counts as `unavailable`.
    events.onLost(this, callIds, error !== null && error.code !== 'unavailable');
  }
}
