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
/** Confirmed events whose rows exist; further confirmations are dropped, and come again with their events. */
const STORED_MAX = 100_000;

export class EventRelay {
  private readonly heldBack = new HeldBackEvents();
  private readonly direct = new DirectShare();
  private readonly sender: EventSender;
  private readonly outboxSweep: OutboxSweep;
  /** Confirmed events whose rows exist, oldest first. */
  private readonly stored = new Set<string>();
  /** The statement that removes rows now. */
  private removal: Promise<void> | null = null;

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
    this.outboxSweep = new OutboxSweep({
      ...options,
      heldBack,
      sender: this.sender,
      isConfirmed: (outboxId) => this.stored.has(outboxId),
      removal: () => this.removal,
    });
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
      if (shard === null || !this.options.owns(shard) || this.stored.size >= STORED_MAX) continue;
      this.stored.add(outboxId);
    }
    if (this.removal === null) void this.removeStored();
  }

  /** The bus came back, perhaps empty: unconfirmed events may be lost, and go before anything new. */
  sendAll(): Promise<void> {
    return this.outboxSweep.sendAll(this.options.ownedShards(), true);
  }

  /** Called every few seconds. Sends due events, and those that were held back. */
  sweep(): Promise<void> {
    return this.outboxSweep.sweep();
  }

  private async removeStored(): Promise<void> {
    while (this.stored.size > 0) {
      const outboxIds = [...take(this.stored, DELETE_MAX)];
      this.removal = this.remove(outboxIds);
      await this.removal;
      for (const outboxId of outboxIds) this.stored.delete(outboxId);
    }
    this.removal = null;
  }

  private async remove(outboxIds: readonly string[]): Promise<void> {
    try {
      await this.options.outbox.remove(outboxIds);
    } catch (error) {
      // The rows are sent again, known by the notifier, and confirmed again.
      this.options.logger.warn({ error }, 'confirmed events could not be removed');
    }
  }
}

function* take(ids: Iterable<string>, max: number): Iterable<string> {
  let taken = 0;
  for (const id of ids) {
    if (taken++ === max) return;
    yield id;
  }
}
