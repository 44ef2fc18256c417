// Sends the due events of the outbox: a share of each organization in turn, oldest first, the events of each run in
// order. It reads only what is due, and bodies last. A backlog is sent as fast as the notifier confirms it, so its
// length costs time but no memory, and the bus never holds more of it than the work of a few moments.
import type { OrgId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import type { DatabaseClock } from '../store/database-clock.ts';
import {
  type Outbox,
  type OutboxEntry,
  type OutboxRun,
  type Overdue,
  type Rescheduled,
  UNCONFIRMED_MS,
} from '../store/outbox.ts';
import type { EventSender } from './event-sender.ts';
import { AGAIN_MAX_MS, type HeldBackEvents } from './held-back-events.ts';
import { SendWindow } from './unconfirmed-events.ts';

/** More than the difference between two owners' estimates of the database's time. */
const CLOCKS_APART_MS = 60_000;
/** Runs in one round; among many organizations, each gets at least `ORG_RUNS_MIN`. */
const RUNS_MAX = 512;
const ORG_RUNS_MIN = 8;
const ORGS_MAX = RUNS_MAX / ORG_RUNS_MIN;
/** Runs held back precede others but do not take all places. */
const HELD_RUNS_MAX = 60;
/** Events of a run in one round; the others follow in later rounds. */
const RUN_EVENTS_MAX = 16;
const EVENTS_MAX = 1_000;
/** The bodies in memory at one time end with the body that reaches this. */
const BODIES_BYTES_MAX = 8 << 20;
const MAKE_DUE_MAX = 5_000;
/**
 * A sweep that waits for the notifier continues once this many places are free, so that its statements are worth their
 * cost.
 */
const FREED_MIN = 128;
/**
 * The bus counts as unavailable when it takes nothing of this many pages: one page may hold only events it never takes.
 */
const REFUSED_PAGES_MAX = 2;

type Postponed = OutboxRun & { readonly sendAtMs: number };

export class OutboxSweep {
  private readonly window = new SendWindow(UNCONFIRMED_MS);
  /** The sweep in progress. */
  private sweeping: Promise<void> | null = null;
  private again = false;
  /** The last sweep ended because the notifier is busy. */
  private paused = false;
  private canGoOn = false;
  /** Places that confirmations freed since the sweep began. */
  private freed = 0;
  private overdue: Overdue[] = [];
  /** Successive pages of which the bus took nothing. */
  private refusedPages = 0;

  constructor(
    private readonly options: {
      readonly outbox: Outbox;
      readonly sender: EventSender;
      readonly heldBack: HeldBackEvents;
      readonly databaseClock: DatabaseClock;
      readonly ownedShards: () => readonly number[];
      /** Says whether the notifier has the event; its row may exist until the end of a removal. */
      readonly isConfirmed: (outboxId: string) => boolean;
      /** The statement that removes rows now; it never rejects. */
      readonly removal: () => Promise<void> | null;
      readonly logger: Logger;
    },
  ) {}

  /** Makes all present events of these shards due, before new ones of them are sent. */
  sendAll(shards: readonly number[], sentToo: boolean): Promise<void> {
    this.options.heldBack.holdShards(shards);
    this.haveDue(shards, sentToo);
    return this.sweep();
  }

  confirmed(outboxId: string): void {
    if (this.window.ended(outboxId)) this.freed++;
    if (this.freed >= FREED_MIN) this.goOn();
  }

  /** New events exceeded the share of their organization: sends them by the sweep's rules, within its room. */
  sendHeld(orgId: OrgId): void {
    if (this.window.roomForHeldBackOf(orgId) > 0) void this.sweep();
  }

  /** Lets a sweep that waits for the notifier continue: an event was held back, or the notifier has caught up. */
  goOn(): void {
    if (this.sweeping !== null) this.canGoOn = true;
    else if (this.paused) void this.sweep();
  }

  /** Resolves when everything due now has been sent, by the sweep in progress and one after it. Never rejects. */
  sweep(): Promise<void> {
    this.again = true;
    this.sweeping ??= this.sweepAll();
    return this.sweeping;
  }

  private async sweepAll(): Promise<void> {
    while (this.again || (this.paused && this.canGoOn)) {
      this.again = false;
      this.paused = false;
      this.canGoOn = false;
      this.freed = 0;
      try {
        await this.rounds();
      } catch (error) {
        this.options.logger.warn({ error }, 'outbox could not be read');
      }
    }
    this.sweeping = null;
  }

  private async rounds(): Promise<void> {
    const { heldBack, outbox, ownedShards } = this.options;
    await this.makeDue();
    heldBack.sweepBegins(this.nowMs());
    this.refusedPages = 0;
    let afterOrgId = '';
    let found = 0;
    let runsMax = ORG_RUNS_MIN;
    for (;;) {
      // Rows that are being removed were not marked as sent, and would be read as due once more.
      await this.options.removal();
      const nowMs = this.nowMs();
      this.window.forgetLost(nowMs);
      await this.sendHeldBack(nowMs);
      const shards = ownedShards();
      if (shards.length === 0 || this.isAway) return;
      const room = this.window.room();
      if (room === 0) return this.pause();
      const without = this.window.fullOrgs();
      const limits = { orgsMax: ORGS_MAX, runsMax: Math.min(runsMax, room) };
      const due = await outbox.dueRuns({ shards, nowMs, afterOrgId, ...limits, without });
      if (due.runs.length > 0) await this.sendEntries(await this.entriesOf(due.runs, nowMs));
      if (this.isAway) return;
      found += due.runs.length;
      runsMax = Math.max(ORG_RUNS_MIN, Math.floor(RUNS_MAX / Math.max(1, due.orgs)));
      afterOrgId = due.lastOrgId ?? '';
      if (due.lastOrgId !== null) continue;
      if (found === 0) return without.length > 0 ? this.pause() : heldBack.sweepEnds();
      found = 0;
    }
  }

  private get isAway(): boolean {
    return this.refusedPages >= REFUSED_PAGES_MAX;
  }

  private pause(): void {
    this.paused = true;
  }

  private async makeDue(): Promise<void> {
    const { heldBack, outbox, ownedShards } = this.options;
    // The held events are not remembered by name: they are among all that were not sent.
    if (heldBack.everything) {
      this.haveDue(ownedShards(), false);
    }
    for (let overdue = this.overdue[0]; overdue !== undefined; overdue = this.overdue[0]) {
      const left = await outbox.makeDue(overdue, this.nowMs(), MAKE_DUE_MAX);
      if (left === null) this.overdue.shift();
      else this.overdue[0] = left;
    }
  }

  private haveDue(shards: readonly number[], sentToo: boolean): void {
    if (shards.length === 0) return;
    const places = shards.map((shard) => ({ shard, afterMs: 0 }));
    this.overdue.push({ shards: places, beforeMs: this.nowMs() + CLOCKS_APART_MS, sentToo });
  }

  private async sendHeldBack(nowMs: number): Promise<void> {
    const max = Math.min(HELD_RUNS_MAX, this.window.roomForHeldBack());
    const runs = this.options.heldBack.untried(max, (orgId) => this.window.roomForHeldBackOf(orgId));
    if (runs.length === 0) return;
    const entries = await this.entriesOf(runs, nowMs);
    const unsent = new Set(entries.map((entry) => entry.runId));
    // The notifier has the event already, although sending it seemed to fail.
    for (const run of runs) if (!unsent.has(run.runId)) this.options.heldBack.sent(run);
    await this.sendEntries(entries);
  }

  private async entriesOf(runs: readonly OutboxRun[], nowMs: number): Promise<OutboxEntry[]> {
    const { outbox, isConfirmed } = this.options;
    const distinct = new Map(runs.map((run) => [`${run.orgId}/${run.runId}`, run]));
    const limits = { perRunMax: RUN_EVENTS_MAX, entriesMax: EVENTS_MAX };
    const entries = await outbox.entriesOf([...distinct.values()], nowMs, limits);
    return entries.filter(({ outboxId }) => !isConfirmed(outboxId));
  }

  private async sendEntries(entries: readonly OutboxEntry[]): Promise<void> {
    const blocked = new Map<string, Postponed>();
    for (let rest = entries; rest.length > 0 && !this.isAway; ) {
      const page = firstPage(rest);
      rest = rest.slice(page.length);
      await this.sendPage(page, blocked);
    }
    if (blocked.size > 0) await this.options.outbox.postpone([...blocked.values()]);
  }

  private async sendPage(page: readonly OutboxEntry[], blocked: Map<string, Postponed>): Promise<void> {
    const { outbox, sender } = this.options;
    const open = page.filter(({ runId, orgId }) => {
      // The event is being sent with its commit: it is looked at again when that has certainly ended.
      if (sender.isSending(runId)) blocked.set(runId, { runId, orgId, sendAtMs: this.nowMs() + UNCONFIRMED_MS });
      return !blocked.has(runId);
    });
    if (open.length === 0) return;
    const bodies = await outbox.bodies(open);
    const byRun = new Map<string, OutboxEntry[]>();
    for (const entry of open) {
      if (!bodies.has(entry.outboxId)) continue;
      const ofRun = byRun.get(entry.runId);
      if (ofRun === undefined) byRun.set(entry.runId, [entry]);
      else ofRun.push(entry);
    }
    const taken: Rescheduled[] = [];
    const failed: { readonly entry: OutboxEntry; readonly refused: boolean }[] = [];
    const sendRun = async (ofRun: readonly OutboxEntry[]) => {
      const events = ofRun.map((entry) => ({ ...entry, body: bodies.get(entry.outboxId) as Uint8Array }));
      // The notifier may confirm the event before the bus reports that it took it.
      for (const { outboxId, orgId } of ofRun) this.window.sent(outboxId, orgId, this.nowMs());
      const { sent, by } = await sender.inOrder(events);
      for (const { outboxId } of ofRun.slice(sent)) this.window.ended(outboxId);
      const nowMs = this.nowMs();
      for (const { outboxId, orgId, createdAtMs } of ofRun.slice(0, sent)) {
        taken.push({ outboxId, orgId, sendAtMs: nextMs(createdAtMs, nowMs) });
      }
      const entry = ofRun[sent];
      if (entry !== undefined) failed.push({ entry, refused: by === 'refused' });
    };
    await Promise.all([...byRun.values()].map(sendRun));
    if (taken.length > 0) await outbox.sent(taken);
    const isRefused = taken.length === 0 && failed.some(({ refused }) => refused);
    this.refusedPages = isRefused ? this.refusedPages + 1 : 0;
    const nowMs = this.nowMs();
    for (const { entry } of failed) {
      const { runId, orgId, createdAtMs } = entry;
      // The bus itself may be unavailable, and back in a moment.
      const sendAtMs = isRefused ? nowMs + UNCONFIRMED_MS : nextMs(createdAtMs, nowMs);
      blocked.set(runId, { runId, orgId, sendAtMs });
    }
  }

  private nowMs(): number {
    return this.options.databaseClock.nowMs();
  }
}

/** Doubles the age of the event: 5 s, 10 s, 20 s and so on after its commit. */
function nextMs(createdAtMs: number, nowMs: number): number {
  return nowMs + Math.min(Math.max(nowMs - createdAtMs, UNCONFIRMED_MS), AGAIN_MAX_MS);
}

function firstPage(entries: readonly OutboxEntry[]): readonly OutboxEntry[] {
  let bytes = 0;
  const end = entries.findIndex((entry) => {
    bytes += entry.bytes;
    return bytes >= BODIES_BYTES_MAX;
  });
  return entries.slice(0, end === -1 ? RUNS_MAX : Math.min(end + 1, RUNS_MAX));
}
