// From the outbox to the bus. An event is sent right after its commit and again every few seconds until the notifier
// confirms that it has it; then the row is deleted. Events that the bus loses are sent again from their rows. Events of
// one run go out in their order: none is sent before an earlier one that the bus has not taken.
import { fromBinary } from '@bufbuild/protobuf';
import { type OrgId, shardOfRunId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import { StoredEventsSchema } from '@methods/proto/event/v1/event_pb';
import type { DatabaseClock } from '../store/database-clock.ts';
import { type Outbox, UNCONFIRMED_MS } from '../store/outbox.ts';
import type { OutboxEvent } from '../store/run-store.ts';
import { type EventPublisher, EventSender } from './event-sender.ts';
import type { HeardEvents } from './heard-events.ts';
import { HeldBackEvents } from './held-back-events.ts';
import { OutboxSweep } from './outbox-sweep.ts';
import { DirectShare } from './unconfirmed-events.ts';

const DELETE_MAX = 1_000;
/** After its commit an event's row is due, on the clock of any node. */
const COMMITTED_DUE_MS = 2 * UNCONFIRMED_MS;
/** Confirmations that wait for the database; beyond this they are dropped, and come again with their events. */
const STORED_MAX = 100_000;

export class EventRelay {
  private readonly heldBack = new HeldBackEvents();
  private readonly direct = new DirectShare();
  private readonly sender: EventSender;
  private readonly outboxSweep: OutboxSweep;
  private stored: string[] = [];
  private deleting = false;

  constructor(
    private readonly options: {
      readonly outbox: Outbox;
      readonly publisher: EventPublisher;
      readonly databaseClock: DatabaseClock;
      readonly shardCount: number;
      readonly ownedShards: () => readonly number[];
      readonly owns: (shard: number) => boolean;
      readonly heard: Pick<HeardEvents, 'confirmed'>;
      readonly logger: Logger;
    },
  ) {
    const { heldBack } = this;
    this.sender = new EventSender({ ...options, heldBack });
    this.outboxSweep = new OutboxSweep({ ...options, heldBack, sender: this.sender });
  }

  committed(events: readonly OutboxEvent[]): void {
    const nowMs = this.options.databaseClock.nowMs();
    this.direct.forgetLost(nowMs);
    const beyondShare = new Set<OrgId>();
    let held = false;
    for (const event of events) {
      const { orgId, outboxId } = event;
      const isBeyond = !this.direct.hasRoom(orgId) || this.heldBack.hasAllOf(orgId);
      if (isBeyond) beyondShare.add(orgId);
      if (isBeyond || this.heldBack.has(event) || this.sender.isFull) {
        this.heldBack.hold(event, COMMITTED_DUE_MS);
        held = true;
      } else {
        this.direct.sent(outboxId, orgId, nowMs);
        this.sender.send(event);
      }
    }
    for (const orgId of beyondShare) this.outboxSweep.sendHeld(orgId);
    if (held) this.outboxSweep.goOn();
  }

  /** Rows of earlier owners go before anything new of these shards. */
  taken(shards: readonly number[]): void {
    void this.outboxSweep.sendAll(shards, false);
  }

  lost(shards: readonly number[]): void {
    this.heldBack.lost(shards);
  }

  /** The notifier has stored these; each node removes the rows of its own shards. */
  confirmed(message: Uint8Array): void {
    const { outboxIds, sendsNoMail } = fromBinary(StoredEventsSchema, message);
    this.options.heard.confirmed({ sendsNoMail });
    for (const outboxId of outboxIds) {
      this.direct.ended(outboxId);
      this.outboxSweep.confirmed(outboxId);
      const shard = shardOfRunId(outboxId.slice(0, outboxId.indexOf('.')), this.options.shardCount);
      if (shard === null || !this.options.owns(shard) || this.stored.length >= STORED_MAX) continue;
      this.stored.push(outboxId);
    }
    void this.deleteStored();
  }

  /** The bus came back, perhaps empty: unconfirmed events may be lost, and go before anything new. */
  sendAll(): Promise<void> {
    return this.outboxSweep.sendAll(this.options.ownedShards(), true);
  }

  /** Called every few seconds. Sends due events, and those that were held back. */
  sweep(): Promise<void> {
    return this.outboxSweep.sweep();
  }

  private async deleteStored(): Promise<void> {
    if (this.deleting) return;
    this.deleting = true;
    try {
      while (this.stored.length > 0) await this.options.outbox.remove(this.stored.splice(0, DELETE_MAX));
    } catch (error) {
      // The rows are sent again, known by the notifier, and confirmed again.
      this.options.logger.warn({ error }, 'confirmed events could not be removed');
    } finally {
      this.deleting = false;
    }
  }
}
