// The connection to NATS, which may be absent at first start or for an hour, or come back empty. The client library's
// own reconnecting is off, so that a first connection, a reconnection and an empty server are one case: connect, create
// streams, notify subscribers. (It would also keep publishing into a buffer while there is no server.)
import { Backoff } from '@methods/base/backoff';
import { type Clock, systemClock } from '@methods/base/clock';
import type { Stoppable } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';
import { connect, type NatsConnection } from 'nats';
import { briefError } from './bus-error.ts';
import { ensureStreams } from './streams.ts';

export interface LinkOptions {
  /** One address, or several separated by commas. */
  readonly url: string;
  /** Shown in the server's list of connections. */
  readonly name: string;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** For streams that we create; 1 for a single server, 3 in a cluster. */
  readonly replicas?: number;
  /** How long `stop` waits for work in progress. */
  readonly stopWithinMs?: number;
}

// A silent partition is noticed when the third ping is due: 3 s.
const PING_INTERVAL_MS = 1000;
const PINGS_UNANSWERED_MAX = 2;
const CONNECT_TIMEOUT_MS = 3000;
const STOP_WITHIN_MS = 2000;
/** Reconnects are spread over this, so that the clients of a restarted server do not all arrive at once. */
const RECONNECT_JITTER_MS = 1000;
/** Many failing publishes ask for this at once. */
const RESTORE_INTERVAL_MS = 500;

type Listener = (connection: NatsConnection) => void;

export class Link implements Stoppable {
  private current: NatsConnection | null = null;
  private stopping = false;
  private running: Promise<void> | null = null;
  private ready: NatsConnection | null = null;
  private restoring: Promise<void> | null = null;
  private restoredAtMs = Number.NEGATIVE_INFINITY;
  private readonly pauses = new Set<() => void>();
  private readonly upListeners = new Set<Listener>();
  private readonly readyListeners = new Set<Listener>();
  readonly clock: Clock;
  readonly logger: Logger;

  constructor(private readonly options: LinkOptions) {
    this.clock = options.clock ?? systemClock;
    this.logger = options.logger;
  }

  start(): void {
    this.running ??= this.run();
  }

  /** Null while there is none. */
  get connection(): NatsConnection | null {
    return this.current && !this.current.isClosed() ? this.current : null;
  }

  /** Called with each new connection, before streams are checked, and at once when there is one. */
  onUp(listener: Listener): () => void {
    return this.listen(this.upListeners, listener);
  }

  /**
   * Called when the streams of a connection exist: after each connect, and after they had to be created again; at once
   * when they exist now.
   */
  onReady(listener: Listener): () => void {
    this.readyListeners.add(listener);
    const connection = this.connection;
    if (connection && this.ready === connection) this.guard(() => listener(connection));
    return () => void this.readyListeners.delete(listener);
  }

  /** A caller found a stream missing: checks the streams, once for all callers that ask meanwhile. */
  restore(): void {
    const connection = this.connection;
    if (!connection || this.restoring) return;
    const tooSoon = this.clock.monotonicMs() - this.restoredAtMs < RESTORE_INTERVAL_MS;
    if (this.ready === connection && tooSoon) return;
    this.restoring = this.makeReady(connection).finally(() => {
      this.restoring = null;
      this.restoredAtMs = this.clock.monotonicMs();
      // It was lost meanwhile, and the next one came while this was busy.
      if (!this.stopping && this.ready !== this.connection) this.restore();
    });
  }

  async stop(): Promise<void> {
    this.stopping = true;
    for (const end of [...this.pauses]) end();
    const connection = this.connection;
    if (connection) {
      let timer: NodeJS.Timeout | undefined;
      // Not the clock's timer: a drain on a connection that just broke never settles, and nothing else keeps the
      // process running then.
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, this.options.stopWithinMs ?? STOP_WITHIN_MS);
      });
      await Promise.race([connection.drain().catch(() => {}), connection.closed(), late]);
      clearTimeout(timer);
      await connection.close().catch(() => {});
    }
    await this.running;
  }

  private async run(): Promise<void> {
    let failures = 0;
    while (!this.stopping) {
      const connection = await this.tryConnect(failures);
      if (connection) {
        failures = 0;
        await this.serve(connection);
      } else {
        failures++;
      }
      await this.pause(Math.random() * RECONNECT_JITTER_MS);
    }
  }

  private async tryConnect(failures: number): Promise<NatsConnection | null> {
    try {
      return await connect({
        servers: this.options.url.split(','),
        name: this.options.name,
        reconnect: false,
        timeout: CONNECT_TIMEOUT_MS,
        pingInterval: PING_INTERVAL_MS,
        maxPingOut: PINGS_UNANSWERED_MAX,
        noAsyncTraces: true,
      });
    } catch (error) {
      // One line for each try would fill the log during an outage.
      if (failures % 60 === 0) this.logger.warn({ reason: briefError(error) }, 'NATS cannot be reached; retrying');
      return null;
    }
  }

  /** Resolves when the connection is gone. */
  private async serve(connection: NatsConnection): Promise<void> {
    if (this.stopping) return connection.close();
    this.current = connection;
    this.logger.info({ server: connection.info?.server_name, version: connection.info?.version }, 'NATS connected');
    this.tell(this.upListeners, connection);
    this.restore();
    const error = await connection.closed();
    this.current = null;
    this.ready = null;
    if (!this.stopping) this.logger.warn({ reason: error ? briefError(error) : 'closed' }, 'NATS connection lost');
  }

  /** Tries until the streams exist or the connection is gone. */
  private async makeReady(connection: NatsConnection): Promise<void> {
    const backoff = new Backoff({ firstMs: 100, maxMs: 2000 });
    for (let tries = 0; !connection.isClosed() && !connection.isDraining(); tries++) {
      try {
        const { different } = await ensureStreams(connection, this.options.replicas ?? 1);
        if (different.length > 0) this.logger.warn({ streams: different }, 'streams differ from what we declare');
        this.ready = connection;
        this.tell(this.readyListeners, connection);
        return;
      } catch (error) {
        if (tries % 30 === 0) this.logger.warn({ reason: briefError(error) }, 'JetStream is not ready; retrying');
        await this.pause(backoff.nextMs());
      }
    }
  }

  private listen(listeners: Set<Listener>, listener: Listener): () => void {
    listeners.add(listener);
    const connection = this.connection;
    if (connection) this.guard(() => listener(connection));
    return () => void listeners.delete(listener);
  }

  private tell(listeners: Set<Listener>, connection: NatsConnection): void {
    for (const listener of [...listeners]) this.guard(() => listener(connection));
  }

  private guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.logger.error({ reason: briefError(error) }, 'a listener of the bus failed');
    }
  }

  /** Ends early when the link stops. Not the clock's timer: a started link keeps its process alive, like a socket. */
  private pause(delayMs: number): Promise<void> {
    if (this.stopping) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.pauses.delete(end);
        resolve();
      };
      const timer = setTimeout(end, delayMs);
      this.pauses.add(end);
    });
  }
}
