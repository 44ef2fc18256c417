// The mailbox of a node's shards: one WorkQueue consumer for each shard, recreated at every take-over with the epoch in
// its name. (With a consumer shared by owners, a frozen one takes commands: of ten, its successor got five.) Commands
// that the old owner had not acknowledged are redelivered to the new one's consumer.
import { type Clock, systemClock, type Timer } from '@methods/base/clock';
import { AckPolicy, DeliverPolicy, type JetStreamManager, type NatsConnection, nanos } from 'nats';
import { BusError, briefError, jetStreamErrorCode } from './bus-error.ts';
import { type BusMessage, type Subscription, subscribe } from './core-subscription.ts';
import type { Link } from './link.ts';
import { consumerNames, RUN_COMMANDS } from './streams.ts';
import { runCommand, shardOfCommand } from './subjects.ts';

export interface CommandInfo {
  /** The epoch of the take-over whose consumer delivered it. */
  readonly epoch: number;
  /** 1 at first. */
  readonly deliveries: number;
}

/**
 * Call `ack` after the command's effect is committed. Commands may arrive repeatedly: their id makes them idempotent.
 */
export type OnCommand = (shard: number, data: Uint8Array, ack: () => void, info: CommandInfo) => void;

export interface CommandMailboxOptions {
  /** The node's own core subject, see `commandDelivery`. */
  readonly deliverTo: string;
  readonly onMessage: OnCommand;
  /** Called when a consumer of a newer epoch was found: the shard has another owner. Its mailbox is then closed. */
  readonly onLost?: (shard: number, epoch: number) => void;
}

const ACK_WAIT_MS = 2000;
const UNACKED_MAX = 1000;
const IN_FLIGHT_MAX = 32;
/** Consumers that were lost without a reconnect, or not created because of a failure, are created at the next check. */
const LOOK_INTERVAL_MS = 5000;
const RETRY_MS = 200;
const SHARDS_MAX = 65_536;
const NOT_FOUND = [10014, 10059];

export class CommandMailbox {
  private readonly epochs = new Map<number, number>();
  /** Our consumers that are no longer needed. */
  private readonly unwanted = new Set<string>();
  private readonly subscription: Subscription;
  private readonly stopListening: () => void;
  private readonly clock: Clock;
  private timer: Timer | null = null;
  private looking = false;
  private lookAgain = false;
  private closed = false;

  constructor(
    private readonly link: Link,
    private readonly options: CommandMailboxOptions,
  ) {
    this.clock = link.clock ?? systemClock;
    this.subscription = subscribe(link, options.deliverTo, (messages) => {
      for (const message of messages) this.deliver(message);
    });
    this.stopListening = link.onReady(() => this.lookSoon(0));
  }

  /** Owned under this epoch, until `disown` or a later epoch. Its consumer exists as soon as NATS creates it. */
  own(shard: number, epoch: number): void {
    if (this.epochs.size >= SHARDS_MAX) throw new BusError('too_many_in_flight', `more than ${SHARDS_MAX} shards`);
    this.epochs.set(shard, epoch);
    this.lookSoon(0);
  }

  /** Stops the deliveries of the shard; unacknowledged commands are left for the next owner. */
  disown(shard: number): void {
    const epoch = this.epochs.get(shard);
    if (epoch === undefined) return;
    this.epochs.delete(shard);
    this.unwanted.add(consumerName(shard, epoch));
    this.lookSoon(0);
  }

  /** Keeps the consumers, with their undelivered commands, for the next owner to replace. */
  close(): void {
    this.closed = true;
    this.timer?.cancel();
    this.stopListening();
    this.subscription.unsubscribe();
  }

  private deliver(message: BusMessage): void {
    const shard = shardOfCommand(message.subject);
    const source = message.reply === undefined ? null : ackParts(message.reply);
    if (shard === null || source === null) return;
    // From a consumer of an earlier take-over: not acknowledged, so it is redelivered by the present one.
    if (this.epochs.get(shard) !== source.epoch) return;
    const ack = () => void this.acknowledge(message.reply as string);
    try {
      this.options.onMessage(shard, message.data, ack, source);
    } catch (error) {
      this.link.logger.error({ shard, reason: briefError(error) }, 'a command was not taken');
    }
  }

  /** Lost without a connection: the command is redelivered, which is harmless. */
  private acknowledge(reply: string): void {
    try {
      this.link.connection?.publish(reply, ACK);
    } catch {
      // Closed in between.
    }
  }

  private lookSoon(delayMs: number): void {
    if (this.closed) return;
    if (this.looking) {
      this.lookAgain = true;
      return;
    }
    this.timer?.cancel();
    if (delayMs === 0) {
      this.looking = true;
      // After this turn, so that the shards of one take-over share one listing.
      setImmediate(() => void this.look());
    } else {
      this.timer = this.clock.after(delayMs, () => this.lookSoon(0));
    }
  }

  private async look(): Promise<void> {
    this.lookAgain = false;
    let failed = false;
    const connection = this.link.connection;
    if (connection && !connection.isDraining() && !this.closed) {
      try {
        failed = !(await this.makeConsumers(connection));
      } catch (error) {
        failed = true;
        if (!connection.isClosed() && !connection.isDraining()) {
          this.link.logger.warn({ reason: briefError(error) }, 'consumers of shards cannot be made; retrying');
        }
        if (NOT_FOUND.includes(jetStreamErrorCode(error) ?? 0)) this.link.restore();
      }
    }
    this.looking = false;
    if (this.lookAgain) this.lookSoon(0);
    else this.lookSoon(failed ? RETRY_MS : LOOK_INTERVAL_MS);
  }

  /** Returns false when some could not be created and are worth another check at once. */
  private async makeConsumers(connection: NatsConnection): Promise<boolean> {
    const names = await consumerNames(connection, RUN_COMMANDS);
    const manager = await connection.jetstreamManager({ checkAPI: false, timeout: 5000 });
    const existing = new Set(names);
    const doomed: string[] = [];
    for (const name of names) {
      const found = shardAndEpoch(name);
      const epoch = found === null ? undefined : this.epochs.get(found.shard);
      if (found === null || epoch === undefined) {
        if (this.unwanted.has(name)) doomed.push(name);
      } else if (found.epoch < epoch) {
        doomed.push(name);
      } else if (found.epoch > epoch) {
        // A successor took the shard while we were frozen or cut off.
        this.epochs.delete(found.shard);
        this.options.onLost?.(found.shard, epoch);
      }
    }
    const missing = [...this.epochs].filter(([shard, epoch]) => !existing.has(consumerName(shard, epoch)));
    const unwanted = [...this.unwanted];
    await inParallel(doomed, (name) => deleteConsumer(manager, name));
    for (const name of unwanted) this.unwanted.delete(name);
    const made = await inParallel(missing, (entry) => this.makeConsumer(manager, entry));
    return made.every(Boolean);
  }

  private async makeConsumer(manager: JetStreamManager, [shard, epoch]: [number, number]): Promise<boolean> {
    // Disowned or owned again while the others were created.
    if (this.epochs.get(shard) !== epoch) return true;
    try {
      await manager.consumers.add(RUN_COMMANDS, {
        durable_name: consumerName(shard, epoch),
        filter_subject: runCommand(shard),
        deliver_subject: this.options.deliverTo,
        deliver_policy: DeliverPolicy.All,
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(ACK_WAIT_MS),
        max_ack_pending: UNACKED_MAX,
        // Commands end by age: one that reached its last delivery would remain and never be delivered again.
        max_deliver: -1,
      });
      return true;
    } catch (error) {
      // Refused because of a consumer that was not in the listing: an older one to be deleted, or a successor's.
      this.link.logger.debug({ shard, epoch, reason: briefError(error) }, 'a consumer was refused');
      return false;
    }
  }
}

const ACK = new TextEncoder().encode('+ACK');

async function deleteConsumer(manager: JetStreamManager, name: string): Promise<void> {
  try {
    await manager.consumers.delete(RUN_COMMANDS, name);
  } catch (error) {
    if (!NOT_FOUND.includes(jetStreamErrorCode(error) ?? 0)) throw error;
  }
}

function consumerName(shard: number, epoch: number): string {
  return `shard-${shard}-${epoch}`;
}

function shardAndEpoch(name: string): { shard: number; epoch: number } | null {
  const found = /^shard-(\d+)-(\d+)$/.exec(name);
  return found ? { shard: Number(found[1]), epoch: Number(found[2]) } : null;
}

/** `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream seq>.…`, preceded by two more parts where domains are used. */
function ackParts(reply: string): CommandInfo | null {
  const parts = reply.split('.');
  if (parts[0] !== '$JS' || parts[1] !== 'ACK' || parts.length < 9) return null;
  const offset = parts.length >= 11 ? 2 : 0;
  const consumer = shardAndEpoch(parts[3 + offset] ?? '');
  return consumer && { epoch: consumer.epoch, deliveries: Number(parts[4 + offset]) };
}

/**
 * Returns results in the order of the items; at most 32 run at a time. The first failure is thrown when all have ended.
 */
async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at] as Item);
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(IN_FLIGHT_MAX, items.length) }, lane));
  const failed = lanes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
  return results;
}
