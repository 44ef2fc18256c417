// From the outbox to the bus. An event is sent right after its commit and again every few seconds until the notifier
// says that it keeps it; then the row goes. What the bus loses, the rows bring back.
import { fromBinary } from '@bufbuild/protobuf';
import { shardOfRunId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import { safeDbError } from '@methods/postgres/safe-db-error';
import { StoredEventsSchema } from '@methods/proto/event/v1/event_pb';
import type { DatabaseClock } from '../database-clock.ts';
import type { OutboxEvent, RunStore } from '../store/run-store.ts';

/** A row this old without a confirmation is sent again. */
const UNCONFIRMED_MS = 5_000;
const SWEEP_MAX = 500;
const DELETE_MAX = 1_000;

export interface EventPublisher {
  /** Resolves when the bus keeps the event. */
  publish(event: OutboxEvent): Promise<void>;
}

export class EventRelay {
  private sweeping = false;
  private stored: string[] = [];
  private deleting = false;

  constructor(
    private readonly options: {
      readonly store: RunStore;
      readonly publisher: EventPublisher;
      readonly databaseClock: DatabaseClock;
      readonly shardCount: number;
      readonly ownedShards: () => readonly number[];
      readonly owns: (shard: number) => boolean;
      readonly logger: Logger;
    },
  ) {}

  committed(events: readonly OutboxEvent[]): void {
    // A failure needs no handling here: the row is still there.
    for (const event of events) this.options.publisher.publish(event).catch(() => {});
  }

  /** The notifier keeps these; each node removes the rows of its own shards. */
  confirmed(message: Uint8Array): void {
    const { outboxIds } = fromBinary(StoredEventsSchema, message);
    for (const outboxId of outboxIds) {
      const shard = shardOfRunId(outboxId.slice(0, outboxId.indexOf('.')), this.options.shardCount);
      if (shard !== null && this.options.owns(shard)) this.stored.push(outboxId);
    }
    void this.deleteStored();
  }

  /** Called every few seconds; with 0 when the bus came back, since then whatever is unconfirmed was never sent. */
  async sweep(unconfirmedMs = UNCONFIRMED_MS): Promise<void> {
    const shards = this.options.ownedShards();
    if (this.sweeping || shards.length === 0) return;
    this.sweeping = true;
    try {
      const beforeMs = this.options.databaseClock.nowMs() - unconfirmedMs;
      const events = await this.options.store.unsentEvents(shards, beforeMs, SWEEP_MAX);
      await Promise.allSettled(events.map((event) => this.options.publisher.publish(event)));
    } catch (error) {
      this.options.logger.warn({ err: safeDbError(error) }, 'outbox could not be read');
    } finally {
      this.sweeping = false;
    }
  }

  private async deleteStored(): Promise<void> {
    if (this.deleting) return;
    this.deleting = true;
    try {
      while (this.stored.length > 0) await this.options.store.deleteEvents(this.stored.splice(0, DELETE_MAX));
    } catch (error) {
      // The rows are sent again, known by the notifier, and confirmed again.
      this.options.logger.warn({ err: safeDbError(error) }, 'confirmed events could not be removed');
    } finally {
      this.deleting = false;
    }
  }
}
