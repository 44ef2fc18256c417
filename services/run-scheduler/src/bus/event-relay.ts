// From the outbox to the bus. An event is sent right after its commit and again every few seconds until the notifier
// says that it keeps it; then the row goes. What the bus loses, the rows bring back. Events of one run go out in their
// order: none is sent before an earlier one that the bus has not taken.
import { fromBinary } from '@bufbuild/protobuf';
import { shardOfRunId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import { safeDbError } from '@methods/postgres/safe-db-error';
import { StoredEventsSchema } from '@methods/proto/event/v1/event_pb';
import type { DatabaseClock } from '../database-clock.ts';
import type { OutboxCursor, OutboxEvent, RunStore } from '../store/run-store.ts';
import { HeldBackEvents } from './held-back-events.ts';

/** A row this old without a confirmation is sent again; then after twice that, and so on. */
const UNCONFIRMED_MS = 5_000;
const AGAIN_MAX_MS = 300_000;
/** Between what two owners take for the database's time, with much to spare. */
const CLOCKS_APART_MS = 3_600_000;
const PAGE = 200;
const PAGES_MAX = 100;
/** Rows that sweeps have sent, with the time of the next; the oldest are forgotten, and sent once too often. */
const RESENT_MAX = 50_000;
const DELETE_MAX = 1_000;
/** Confirmations that wait for the database; beyond this they are dropped, and come again with their events. */
const STORED_MAX = 100_000;

export interface EventPublisher {
  /** Resolves when the bus keeps the event. */
  publish(event: OutboxEvent): Promise<void>;
}

interface Resent {
  readonly nextAtMs: number;
  readonly waitMs: number;
}

export class EventRelay {
  /** Runs with events on their way to the bus: the first is being sent, the rest follow it. */
  private readonly sending = new Map<string, OutboxEvent[]>();
  private readonly heldBack = new HeldBackEvents();
  private readonly resent = new Map<string, Resent>();
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
    this.heldBack.taken(shards);
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

  /** The bus came back, perhaps empty: whatever is unconfirmed may never have been sent. */
  sendAll(): Promise<void> {
    this.resent.clear();
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
      this.options.logger.warn({ err: safeDbError(error) }, 'outbox could not be read');
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
    const complete = this.heldBack.sweepBegins();
    let after: OutboxCursor | null = null;
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const page: OutboxEvent[] = await this.options.store.unsentEvents(shards, beforeMs, PAGE, after);
      const due = page.filter((event) => this.isDue(event, nowMs, unconfirmedMs));
      const sent = await this.sendRuns(due);
      // Nothing gets through: the bus is away, and the rest waits for it.
      if (due.length > 0 && sent === 0) return;
      if (page.length < PAGE) return complete();
      after = page[page.length - 1] ?? null;
    }
  }

  private isDue(event: OutboxEvent, nowMs: number, unconfirmedMs: number): boolean {
    if (this.sending.has(event.runId)) return false;
    if ((this.resent.get(event.outboxId)?.nextAtMs ?? nowMs) > nowMs) return false;
    return this.heldBack.has(event) || event.createdAtMs <= nowMs - unconfirmedMs;
  }

  /** How many the bus took. */
  private async sendRuns(events: readonly OutboxEvent[]): Promise<number> {
    const byRun = new Map<string, OutboxEvent[]>();
    for (const event of events) {
      const ofRun = byRun.get(event.runId);
      if (ofRun === undefined) byRun.set(event.runId, [event]);
      else ofRun.push(event);
    }
    const sendRun = async (ofRun: OutboxEvent[]) => {
      const sent = await this.sendInOrder(ofRun);
      for (const { outboxId } of ofRun.slice(0, sent)) this.sentAgain(outboxId);
      return sent;
    };
    const sent = await Promise.all([...byRun.values()].map(sendRun));
    return sent.reduce((sum, count) => sum + count, 0);
  }

  /** One after the other; from the first that fails on, the run's events are left to the next sweep. */
  private async sendInOrder(events: OutboxEvent[]): Promise<number> {
    const [first] = events;
    if (first === undefined) return 0;
    let sent = 0;
    this.sending.set(first.runId, events);
    for (let event = events[0]; event !== undefined; event = events[sent]) {
      if (!(await this.send(event))) break;
      sent++;
      this.heldBack.sent(event);
    }
    this.sending.delete(first.runId);
    for (const event of events.slice(sent)) this.heldBack.hold(event);
    return sent;
  }

  private async send(event: OutboxEvent): Promise<boolean> {
    try {
      await this.options.publisher.publish(event);
      return true;
    } catch (error) {
      const code = (error as { code?: unknown }).code;
      // No later try will be better.
      if (code === 'too_large')
        this.options.logger.error({ run: event.runId, code }, 'event beyond what the bus takes');
      return false;
    }
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
      this.options.logger.warn({ err: safeDbError(error) }, 'confirmed events could not be removed');
    } finally {
      this.deleting = false;
    }
  }
}
