// The worker's stream to the run-scheduler, and its calls beside the stream: connected to one of several addresses at a
// time, dialled again with growing waits. Items are sent only on a welcomed stream; the sender repeats what must
// arrive.
import { Backoff } from '@methods/base/backoff';
import type { Clock, Timer } from '@methods/base/clock';
import type { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import { type SchedulerItem, WorkerService, type WorkRequestSchema } from '@methods/proto/worker/v1/worker_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';
import { dialFrames, type FrameConnection, type SentItem } from '@methods/rpc/frame-stream';

export type WorkerItem = SentItem<typeof WorkRequestSchema>;

interface SchedulerLinkOptions {
  /** The nodes' worker endpoints, `host:port` or `https://host:port`, tried in turn. */
  readonly addresses: readonly string[];
  /** `Bearer sk_...`, with only the auth part of the key. */
  readonly authorization: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The first item of a stream. */
  readonly hello: (streamNumber: number) => WorkerItem;
  readonly onItems: (items: readonly SchedulerItem[]) => void;
  /** `error` is null after an orderly end. */
  readonly onDown: (error: ServiceError | null) => void;
}

export class SchedulerLink {
  private readonly backoff = new Backoff({ firstMs: 100, maxMs: 5_000, jitter: 0.5 });
  private connection: FrameConnection<WorkerItem> | null = null;
  /** The node has sent its first item on this stream, the welcome. */
  private welcomed = false;
  /** Whether the connected node accepts the last step's record inside the report that follows it. */
  takesLastRecord = false;
  private redial: Timer | null = null;
  private streamNumber = 0;
  private next: number;
  private stopped = false;

  constructor(private readonly options: SchedulerLinkOptions) {
    this.next = Math.floor(Math.random() * options.addresses.length);
  }

  start(): void {
    this.dial();
  }

  stop(): void {
    this.stopped = true;
    this.redial?.cancel();
    this.connection?.close();
  }

  /** Address of the connected node, for the other calls. */
  get address(): string {
    return this.options.addresses[this.next % this.options.addresses.length] ?? '';
  }

  /**
   * Returns false when there is no welcomed stream. An item sent between hello and welcome would count twice: after the
   * welcome, reports are repeated and free places announced again.
   */
  send(item: WorkerItem): boolean {
    return this.welcomed && (this.connection?.send(item) ?? false);
  }

  /** The node is about to stop: connects to another one at once. */
  moveOn(): void {
    this.connection?.close();
  }

  private dial(): void {
    const connection = dialFrames(WorkerService.method.work, this.address, {
      metadata: { authorization: this.options.authorization },
      onItems: (items) => {
        if (!this.welcomed) this.heardFirst(items[0]);
        this.options.onItems(items);
      },
      onFault: (error) => this.options.logger.error({ err: error }, 'worker stream broken by a fault'),
      onClose: (error) => this.closed(connection, error),
    });
    this.connection = connection;
    this.streamNumber++;
    connection.send(this.options.hello(this.streamNumber));
  }

  private heardFirst(welcome: SchedulerItem | undefined): void {
    this.welcomed = true;
    const { item } = welcome ?? {};
    this.takesLastRecord = item?.case === 'welcome' && item.value.features.includes('last_record');
    // Not earlier: a node that accepts streams and ends them at once would be dialled without a pause.
    this.backoff.reset();
    this.options.logger.info({ address: this.address }, 'connected');
  }

  private closed(connection: FrameConnection<WorkerItem>, error: ServiceError | null): void {
    if (this.connection !== connection) return;
    this.connection = null;
    this.welcomed = false;
    this.options.onDown(error);
    if (this.stopped) return;
    this.next++;
    const waitMs = this.backoff.nextMs();
    // The reason a node refuses this worker, for example a method that its organization does not have.
    const reason = error === null || error.code === 'unavailable' ? {} : { reason: error.message };
    this.options.logger.warn({ code: error?.code ?? 'closed', ...reason, waitMs: Math.round(waitMs) }, 'not connected');
    this.redial = this.options.clock.after(waitMs, () => this.dial());
  }
}

/** Calls beside the stream: one client for each node that the worker has been at. */
export class NodeClients {
  private readonly clients = new Map<string, Client<typeof WorkerService>>();

  constructor(private readonly authorization: string) {}

  at(address: string): Client<typeof WorkerService> {
    const known = this.clients.get(address);
    if (known !== undefined) return known;
    const client = rpcClient(WorkerService, address, { metadata: { authorization: this.authorization } });
    this.clients.set(address, client);
    return client;
  }

  close(): void {
    for (const client of this.clients.values()) client.close();
  }
}
