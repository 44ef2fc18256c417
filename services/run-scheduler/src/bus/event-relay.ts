// From the outbox to the bus. An event is sent right after its commit and again every few seconds until the notifier
// says that it keeps it; then the row goes. What the bus loses, the rows bring back. Events of one run go out in their
// order: none is sent before an earlier one that the bus has not taken. A backlog goes out page by page, each as soon as
// the bus has taken the one before, so that its length costs time and no memory.
import { fromBinary } from '@bufbuild/protobuf';
import { shardOfRunId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import { StoredEventsSchema } from '@methods/proto/event/v1/event_pb';
import type { DatabaseClock } from '../database-clock.ts';
import type { OutboxCursor, OutboxEvent, RunStore } from '../store/run-store.ts';
import { HeldBackEvents } from './held-back-events.ts';

/** A row this old without a confirmation is sent again; then after twice that, and so on. */
const UNCONFIRMED_MS = 5_000;
const AGAIN_MAX_MS = 300_000;
/** Between what two owners take for the database's time, with much to spare. */
const CLOCKS_APART_MS = 3_600_000;
/** A page of the outbox ends at so many rows, or with the row that brings it to so many bytes. */
const PAGE_ROWS_MAX = 1_000;
const PAGE_BYTES_MAX = 8 << 20;
/** Rows that sweeps have sent, with the time of the next; the oldest are forgotten, and sent once too often. */
const RESENT_MAX = 50_000;
const DELETE_MAX = 1_000;
/** Confirmations that wait for the database; beyond this they are dropped, and come again with their events. */
const STORED_MAX = 100_000;
/** Events beyond what the bus takes, each told of once. */
const TOO_LARGE_MAX = 1_000;

export interface EventPublisher {
  /** Resolves when the bus keeps the event. */
  publish(event: OutboxEvent): Promise<void>;
}

interface Resent {
  readonly nextAtMs: number;
  readonly waitMs: number;
}

/** `too_large`: the bus as it is set up can never take it, which says nothing of any other event. */
type Sending = 'sent' | 'refused' | 'too_large';

export class EventRelay {
  /** Runs with events on their way to the bus: the first is being sent, the rest follow it. */
  private readonly sending = new Map<string, OutboxEvent[]>();
  private readonly heldBack = new HeldBackEvents();
  private readonly resent = new Map<string, Resent>();
  private readonly tooLarge = new Set<string>();
  private sweeping = false;
  /** The next sweep's age; null: none was asked for while one was under way. */
  private againMs: number | null = null;
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
    for (const event of events) {
      const ahead = this.sending.get(event.runId);
      if (this.heldBack.has(event)) this.heldBack.hold(event);
      else if (ahead !== undefined) ahead.push(event);
      else void this.sendInOrder([event]);
    }
  }

  /** Rows of earlier owners go before anything new of these shards. */
  taken(shards: readonly number[]): void {
    this.heldBack.holdShards(shards);
    void this.sweep();
  }

  lost(shards: readonly number[]): void {
    this.heldBack.lost(shards);
  }

  /** The notifier keeps these; each node removes the rows of its own shards. */
  confirmed(message: Uint8Array): void {
    const { outboxIds } = fromBinary(StoredEventsSchema, message);
    for (const outboxId of outboxIds) {
      const shard = shardOfRunId(outboxId.slice(0, outboxId.indexOf('.')), this.options.shardCount);
      if (shard === null || !this.options.owns(shard) || this.stored.length >= STORED_MAX) continue;
      this.resent.delete(outboxId);
      this.stored.push(outboxId);
    }
    void this.deleteStored();
  }

  /** The bus came back, perhaps empty: whatever is unconfirmed may not be there, and goes before anything new. */
  sendAll(): Promise<void> {
    this.resent.clear();
    this.heldBack.holdShards(this.options.ownedShards());
    return this.sweep(0);
  }

  /** Called every few seconds. Sends what is unconfirmed for so long, and whatever was held back. */
  async sweep(unconfirmedMs = UNCONFIRMED_MS): Promise<void> {
    if (this.sweeping) {
      this.againMs = Math.min(unconfirmedMs, this.againMs ?? unconfirmedMs);
      return;
    }
    this.sweeping = true;
    try {
      await this.sweepPages(unconfirmedMs);
    } catch (error) {
      this.options.logger.warn({ error }, 'outbox could not be read');
    } finally {
      this.sweeping = false;
    }
    const { againMs } = this;
    this.againMs = null;
    if (againMs !== null) await this.sweep(againMs);
  }

  private async sweepPages(unconfirmedMs: number): Promise<void> {
    const shards = this.options.ownedShards();
    if (shards.length === 0) return;
    const nowMs = this.options.databaseClock.nowMs();
    const beforeMs = this.heldBack.any ? nowMs + CLOCKS_APART_MS : nowMs - unconfirmedMs;
    this.heldBack.sweepBegins();
    let after: OutboxCursor | null = null;
    for (;;) {
      const limits = { rowsMax: PAGE_ROWS_MAX, bytesMax: PAGE_BYTES_MAX };
      const page: OutboxEvent[] = await this.options.store.unsentEvents(shards, beforeMs, limits, after);
      const last = page.at(-1);
      if (last === undefined) return this.heldBack.sweepEnds();
      // Nothing gets through: the bus is away, and the rest waits for it.
      if (await this.isRefused(page.filter((event) => this.isDue(event, nowMs, unconfirmedMs)))) return;
      after = last;
    }
  }

  private isDue(event: OutboxEvent, nowMs: number, unconfirmedMs: number): boolean {
    if (this.sending.has(event.runId) || this.heldBack.isStuck(event.runId)) return false;
    if ((this.resent.get(event.outboxId)?.nextAtMs ?? nowMs) > nowMs) return false;
    return this.heldBack.has(event) || event.createdAtMs <= nowMs - unconfirmedMs;
  }

  /** Sends them, each run's in order; true when the bus took none that it could have taken. */
  private async isRefused(events: readonly OutboxEvent[]): Promise<boolean> {
    const byRun = new Map<string, OutboxEvent[]>();
    for (const event of events) {
      const ofRun = byRun.get(event.runId);
      if (ofRun === undefined) byRun.set(event.runId, [event]);
      else ofRun.push(event);
    }
    let sent = 0;
    let refused = 0;
    const sendRun = async (ofRun: OutboxEvent[]) => {
      // Rows stand by time, and two owners' clocks may differ.
      ofRun.sort((a, b) => a.seq - b.seq);
      const ended = await this.sendInOrder(ofRun);
      sent += ended.sent;
      if (ended.by === 'refused') refused++;
      for (const { outboxId } of ofRun.slice(0, ended.sent)) this.sentAgain(outboxId);
    };
    await Promise.all([...byRun.values()].map(sendRun));
    return sent === 0 && refused > 0;
  }

  /** One after the other; from the first that fails on, the run's events are left to the next sweep. */
  private async sendInOrder(events: OutboxEvent[]): Promise<{ readonly sent: number; readonly by: Sending }> {
    let by: Sending = 'sent';
    let sent = 0;
    const [first] = events;
    if (first === undefined) return { sent, by };
    this.sending.set(first.runId, events);
    for (let event = events[0]; event !== undefined; event = events[sent]) {
      by = await this.send(event);
      if (by !== 'sent') break;
      sent++;
      this.heldBack.sent(event);
    }
    this.sending.delete(first.runId);
    for (const event of events.slice(sent)) this.heldBack.failed(event);
    return { sent, by };
  }

  private async send(event: OutboxEvent): Promise<Sending> {
    try {
      await this.options.publisher.publish(event);
      return 'sent';
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'too_large') return 'refused';
      this.tellTooLarge(event);
      return 'too_large';
    }
  }

  /** It is tried again with each sweep, since the bus may get another limit; whoever runs the service hears once. */
  private tellTooLarge({ runId, outboxId, body }: OutboxEvent): void {
    if (this.tooLarge.has(outboxId)) return;
    if (this.tooLarge.size >= TOO_LARGE_MAX) this.tooLarge.clear();
    this.tooLarge.add(outboxId);
    this.options.logger.error({ run: runId, bytes: body.length }, 'event beyond what the bus takes');
  }

  private sentAgain(outboxId: string): void {
    const waitMs = Math.min(2 * (this.resent.get(outboxId)?.waitMs ?? UNCONFIRMED_MS / 2), AGAIN_MAX_MS);
    this.resent.delete(outboxId);
    this.resent.set(outboxId, { waitMs, nextAtMs: this.options.databaseClock.nowMs() + waitMs });
    if (this.resent.size > RESENT_MAX) this.resent.delete(this.resent.keys().next().value ?? '');
  }

  private async deleteStored(): Promise<void> {
    if (this.deleting) return;
    this.deleting = true;
    try {
      while (this.stored.length > 0) await this.options.store.deleteEvents(this.stored.splice(0, DELETE_MAX));
    } catch (error) {
      // The rows are sent again, known by the notifier, and confirmed again.
      this.options.logger.warn({ error }, 'confirmed events could not be removed');
    } finally {
      this.deleting = false;
    }
  }
}
