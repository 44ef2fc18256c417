// The worker's stream to the run-scheduler: one of several addresses at a time, dialled again with growing waits.
// Whatever the worker says is sent on the open stream or not at all; who needs it heard repeats it.
import { Backoff } from '@methods/base/backoff';
import type { Clock, Timer } from '@methods/base/clock';
import type { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import { type SchedulerItem, WorkerService, type WorkRequestSchema } from '@methods/proto/worker/v1/worker_service_pb';
import { dialFrames, type FrameConnection, type SentItem } from '@methods/rpc/frame-stream';

export type WorkerItem = SentItem<typeof WorkRequestSchema>;

export interface SchedulerLinkOptions {
  /** host:port of the nodes' worker endpoints, tried in turn. */
  readonly addresses: readonly string[];
  /** `Bearer sk_...`, the auth part alone. */
  readonly authorization: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The first item of a stream. */
  readonly hello: (streamNumber: number) => WorkerItem;
  readonly onItems: (items: readonly SchedulerItem[]) => void;
  readonly onOpen: () => void;
  /** `error` is null after an orderly end. */
  readonly onDown: (error: ServiceError | null) => void;
}

export class SchedulerLink {
  private readonly backoff = new Backoff({ firstMs: 100, maxMs: 5_000, jitter: 0.5 });
  private connection: FrameConnection<WorkerItem> | null = null;
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

  /** Address of the node the stream is at, for the other calls. */
  get address(): string {
    return this.options.addresses[this.next % this.options.addresses.length] ?? '';
  }

  /** False when there is no stream. */
  send(item: WorkerItem): boolean {
    return this.connection?.send(item) ?? false;
  }

  /** The node is about to stop: elsewhere, at once. */
  moveOn(): void {
    this.connection?.close();
  }

  private dial(): void {
    const connection = dialFrames(WorkerService.method.work, this.address, {
      metadata: { authorization: this.options.authorization },
      onOpen: () => {
        this.backoff.reset();
        this.options.logger.info({ address: this.address }, 'connected');
        this.options.onOpen();
      },
      onItems: (items) => this.options.onItems(items),
      onClose: (error) => this.closed(connection, error),
    });
    this.connection = connection;
    this.streamNumber++;
    connection.send(this.options.hello(this.streamNumber));
  }

  private closed(connection: FrameConnection<WorkerItem>, error: ServiceError | null): void {
    if (this.connection !== connection) return;
    this.connection = null;
    this.options.onDown(error);
    if (this.stopped) return;
    this.next++;
    const waitMs = this.backoff.nextMs();
    this.options.logger.warn({ code: error?.code ?? 'closed', waitMs: Math.round(waitMs) }, 'not connected');
    this.redial = this.options.clock.after(waitMs, () => this.dial());
  }
}
