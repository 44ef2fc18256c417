// The worker's stream to the run-scheduler, and its calls beside the stream: connected to one of several addresses at a
// time, dialled again with growing waits. Items are sent only on a welcomed stream; the sender repeats what must
// arrive.
import { Backoff } from '@methods/base/backoff';
import type { Clock, Timer } from '@methods/base/clock';
import type { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import { type SchedulerItem, WorkerService, type WorkRequestSchema } from '@methods/proto/worker/v1/worker_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';
import { type ConnectFault, connectFault } from '@methods/rpc/connect-fault';
import { dialFrames, type FrameConnection, type SentItem } from '@methods/rpc/frame-stream';

export type WorkerItem = SentItem<typeof WorkRequestSchema>;

interface SchedulerLinkOptions {
  /** The nodes' worker endpoints, `host:port` or `https://host:port`, tried in turn. */
  readonly addresses: readonly string[];
  /** `Bearer sk_...`, with only the auth part of the key. */
  readonly authorization: string;
  /**
   * Returns the present authorization, for one that expires; absent: it never changes. `refused`: a node has just
   * refused the one before, although it may look valid here.
   */
  readonly renewed?: ((refused: boolean) => Promise<string>) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The first item of a stream. */
  readonly hello: (streamNumber: number) => WorkerItem;
  readonly onItems: (items: readonly SchedulerItem[]) => void;
  /** `error` is null after an orderly end. */
  readonly onDown: (error: ServiceError | null) => void;
}

/** How often a worker asks for its present authorization. Those of people are renewed a minute before they expire. */
const RENEW_MS = 15_000;

export class SchedulerLink {
  private readonly backoff = new Backoff({ firstMs: 100, maxMs: 5_000, jitter: 0.5 });
  private connection: FrameConnection<WorkerItem> | null = null;
  /** The node has sent its first item on this stream, the welcome. */
  private welcomed = false;
  /** Whether the connected node accepts the last step's record inside the report that follows it. */
  takesLastRecord = false;
  private redial: Timer | null = null;
  private renewal: Timer | null = null;
  /** The stream ends only to begin with the next authorization. */
  private renewing = false;
  /** The stream ends only to begin with another hello. */
  private greeting = false;
  private present: string;
  /** A node has refused the present authorization, and there was no other one since. */
  private refused = false;
  private streamNumber = 0;
  private next: number;
  private stopped = false;

  constructor(private readonly options: SchedulerLinkOptions) {
    this.next = Math.floor(Math.random() * options.addresses.length);
    this.present = options.authorization;
  }

  start(): void {
    this.dial();
    this.renewLater();
  }

  /** Of the stream, and of calls beside it. */
  get authorization(): string {
    return this.present;
  }

  stop(): void {
    this.stopped = true;
    this.redial?.cancel();
    this.renewal?.cancel();
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

  /** The hello has changed: begins the next stream with it, at the same node and at once. */
  greetAgain(): void {
    if (this.connection !== null) {
      this.greeting = true;
      this.connection.close();
    } else if (this.redial !== null && !this.stopped) {
      this.redial.cancel();
      this.dial();
    }
  }

  private renewLater(): void {
    if (this.options.renewed === undefined) return;
    this.renewal = this.options.clock.after(RENEW_MS, () => {
      void this.renew().then((isNew) => {
        if (this.stopped) return;
        this.renewing = isNew && this.connection !== null;
        if (isNew) this.moveOn();
        this.renewLater();
      });
    });
  }

  /** Without a new one the old one counts until it expires, and the node then says so. */
  private async renew(): Promise<boolean> {
    const { renewed } = this.options;
    const next = await renewed?.(this.refused).catch(() => this.present);
    if (next === undefined || next === this.present) return false;
    this.present = next;
    this.refused = false;
    return true;
  }

  private async dialRenewed(): Promise<void> {
    await this.renew();
    if (!this.stopped) this.dial();
  }

  private dial(): void {
    const connection = dialFrames(WorkerService.method.work, this.address, {
      metadata: { authorization: this.present },
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
    if (this.greeting) {
      this.greeting = false;
      return this.dial();
    }
    this.refused ||= error?.code === 'unauthorized';
    const { address } = this;
    this.next++;
    const waitMs = this.backoff.nextMs();
    const fields = { code: error?.code ?? 'closed', address, ...reasonOf(error), waitMs: Math.round(waitMs) };
    if (this.renewing) this.options.logger.info(fields, 'connecting with a new authorization');
    else this.options.logger.warn(fields, 'not connected');
    this.renewing = false;
    const redial = () => {
      this.redial = null;
      if (this.options.renewed === undefined) this.dial();
      else void this.dialRenewed();
    };
    this.redial = this.options.clock.after(waitMs, redial);
  }
}

/** Why a node refuses this worker, for example a method that its organization does not have, or cannot be reached. */
function reasonOf(error: ServiceError | null): Partial<ConnectFault> {
  if (error === null) return {};
  return error.code === 'unavailable' ? (connectFault(error) ?? {}) : { reason: error.message };
}

/** Calls beside the stream: one client for each node that the worker has been at. */
export class NodeClients {
  private readonly clients = new Map<string, Client<typeof WorkerService>>();

  constructor(private readonly authorization: () => string) {}

  at(address: string): Client<typeof WorkerService> {
    const known = this.clients.get(address);
    if (known !== undefined) return known;
    const client = rpcClient(WorkerService, address, {
      metadata: () => ({ authorization: this.authorization() }),
    });
    this.clients.set(address, client);
    return client;
  }

  close(): void {
    for (const client of this.clients.values()) client.close();
  }
}
