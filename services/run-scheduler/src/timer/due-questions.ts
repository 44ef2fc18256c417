// Ends questions without an answer in time, and wakes sleeping runs. Deadlines are rows; only those due within a minute
// are in memory, in one heap with one timer, and the commit compares each again with the database's own clock. A
// bounded number of due deadlines is processed at a time; organizations take turns.
import type { Clock } from '@methods/base/clock';
import type { RunId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import type { RunActors } from '../actor/run-actors.ts';
import { sizeOfRun } from '../run/recorded-size.ts';
import type { Run } from '../run/run.ts';
import { deadlineOf } from '../store/commit-sections.ts';
import type { DatabaseClock } from '../store/database-clock.ts';
import type { DuePlace, DueQuestion, DueStretch, RunStore } from '../store/run-store.ts';
import { RunsAhead } from './runs-ahead.ts';
import { TimerHeap } from './timer-heap.ts';

const AHEAD_MS = 60_000;
const LOOK_EVERY_MS = 30_000;
/** Deadlines in memory; beyond this, the others are read when some of these are over. */
const KNOWN_MAX = 100_000;
/**
 * Commands sent to runs at a time: one batch is committed while the next one is read. Other work waits for no more than
 * these.
 */
const AT_ONCE = 512;
/** Approximate memory of these runs, except the last of them. */
const BYTES_AT_ONCE = 8 << 20;
/** Deadlines queued in one turn of the event loop. */
const LINED_UP_MAX = 4_096;
const RETRY_MS = 1_000;

export class DueQuestions {
  private readonly heap = new TimerHeap<DueQuestion>();
  private readonly line = new DueLine();
  private readonly known = new Set<string>();
  private timer: { readonly atMs: number; cancel(): void } | null = null;
  private looker: { cancel(): void } | null = null;
  private firing = 0;
  private firingBytes = 0;
  private looks = 0;
  private stopped = false;
  /** Some deadlines of commits are not in memory for lack of room. */
  private missing = false;
  private readonly knownMax: number;
  private readonly ahead: RunsAhead;

  constructor(
    private readonly options: {
      readonly store: RunStore;
      readonly actors: RunActors;
      readonly databaseClock: DatabaseClock;
      readonly clock: Clock;
      readonly ownedShards: () => readonly number[];
      readonly owns: (shard: number) => boolean;
      readonly epochOf: (shard: number) => number | null;
      readonly logger: Logger;
      /** Deadlines in memory; default 100,000. */
      readonly knownMax?: number;
    },
  ) {
    this.knownMax = options.knownMax ?? KNOWN_MAX;
    const { store, actors, databaseClock, clock, epochOf, logger } = options;
    const load = (runIds: readonly RunId[]) => store.load(runIds);
    const isResident = (question: DueQuestion) => actors.resident(question) !== null;
    this.ahead = new RunsAhead({ load, isResident, epochOf, databaseClock, clock, logger });
  }

  start(): void {
    this.stopped = false;
    this.look();
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
    this.looker?.cancel();
    this.ahead.stop();
  }

  committed(_before: Run | null, after: Run): void {
    this.ahead.drop(after.facts.runId);
    const wakeAtMs = deadlineOf(after);
    if (wakeAtMs === null || wakeAtMs > this.options.databaseClock.nowMs() + AHEAD_MS) return;
    if (this.known.size >= this.knownMax) {
      if (!this.missing) this.lookAgainSoon();
      this.missing = true;
      return;
    }
    const { runId, orgId, shard } = after.facts;
    const questionId = after.status === 'waiting' ? after.question.id : '';
    this.arm({ runId, orgId, shard, questionId, wakeAtMs, bytes: sizeOfRun(after) });
    this.schedule();
  }

  /** Reads the deadlines of the next minute; also called when shards were taken. */
  look(): void {
    this.looker?.cancel();
    this.missing = false;
    if (this.stopped) return;
    // The database's clock may have been set: armed deadlines may be due now.
    this.timer?.cancel();
    this.timer = null;
    this.schedule();
    this.looker = this.options.clock.after(LOOK_EVERY_MS, () => this.look());
    if (this.options.ownedShards().length > 0) void this.lookThrough(++this.looks);
  }

  /** Reads stretch by stretch, oldest first; a later read replaces this one. */
  private async lookThrough(look: number): Promise<void> {
    const { store, databaseClock, ownedShards, logger } = this.options;
    const untilMs = databaseClock.nowMs() + AHEAD_MS;
    let place: DuePlace | null = { wakeAtMs: 0, runId: '' };
    try {
      while (place !== null && look === this.looks && !this.stopped) {
        if (this.known.size >= this.knownMax) return this.lookAgainSoon();
        const stretch: DueStretch = await store.dueQuestions(ownedShards(), untilMs, place);
        for (const question of stretch.questions) this.arm(question);
        this.schedule();
        place = stretch.end;
      }
    } catch (error) {
      logger.warn({ error }, 'deadlines could not be read');
      this.lookAgainSoon();
    }
  }

  private lookAgainSoon(): void {
    this.looker?.cancel();
    if (!this.stopped) this.looker = this.options.clock.after(RETRY_MS, () => this.look());
  }

  private arm(question: DueQuestion): void {
    if (this.known.has(nameOf(question))) return;
    this.known.add(nameOf(question));
    this.heap.push(question.wakeAtMs, question);
    this.ahead.add(question);
  }

  private get isFull(): boolean {
    return this.firing >= AT_ONCE || this.firingBytes >= BYTES_AT_ONCE;
  }

  /** Sets one timer for the earliest deadline, and does not reset it for each deadline of a burst. */
  private schedule(): void {
    const { heap, line, timer } = this;
    const atMs = line.size > 0 ? 0 : heap.nextAtMs;
    // At the bound, the next settled command continues.
    if (atMs === null || this.stopped || this.isFull || (timer !== null && timer.atMs <= atMs)) return;
    timer?.cancel();
    const waitMs = Math.max(1, atMs - this.options.databaseClock.nowMs());
    const set = this.options.clock.after(Math.min(waitMs, AHEAD_MS), () => this.fire());
    this.timer = { atMs, cancel: () => set.cancel() };
  }

  private fire(): void {
    this.timer = null;
    for (const question of this.heap.popDue(this.options.databaseClock.nowMs(), LINED_UP_MAX)) this.line.add(question);
    while (!this.isFull) {
      const question = this.line.take();
      if (question === null) break;
      if (this.options.owns(question.shard)) void this.expire(question);
      else this.forget(question);
    }
    this.schedule();
  }

  private async expire(question: DueQuestion): Promise<void> {
    const { runId, orgId, questionId, bytes } = question;
    this.firing++;
    this.firingBytes += bytes;
    const outcome = await this.options.actors.tell(
      orgId,
      runId,
      questionId === '' ? { type: 'wake' } : { type: 'expire_question', questionId },
      this.ahead.take(question),
    );
    this.firing--;
    this.firingBytes -= bytes;
    if (outcome.kind === 'failed' && this.options.owns(question.shard)) {
      // Too early by the database's clock, or the run was unavailable: retries in a moment.
      this.heap.push(this.options.databaseClock.nowMs() + RETRY_MS / 4, question);
    } else {
      this.known.delete(nameOf(question));
    }
    this.schedule();
  }

  private forget(question: DueQuestion): void {
    this.known.delete(nameOf(question));
    this.ahead.drop(question.runId);
  }
}

/** A run may sleep more than once, and a question has several times, so each has its own name. */
function nameOf({ runId, questionId, wakeAtMs }: DueQuestion): string {
  return `${questionId || runId} ${wakeAtMs}`;
}

interface OfOrganization {
  readonly questions: DueQuestion[];
  /** Entries before this index are gone: removing the first of a long list must not move all others. */
  next: number;
}

/**
 * Due deadlines that wait for their turn. Organizations take turns, so that thousands of deadlines of one do not delay
 * those of others.
 */
export class DueLine {
  private readonly orgs = new Map<string, OfOrganization>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  add(question: DueQuestion): void {
    const own = this.orgs.get(question.orgId);
    if (own === undefined) this.orgs.set(question.orgId, { questions: [question], next: 0 });
    else own.questions.push(question);
    this.count++;
  }

  /** Returns the first deadline of the organization whose turn it is. */
  take(): DueQuestion | null {
    for (const [orgId, own] of this.orgs) {
      const question = own.questions[own.next++] as DueQuestion;
      // Served last, so it comes last in the next round.
      this.orgs.delete(orgId);
      if (own.next < own.questions.length) this.orgs.set(orgId, own);
      this.count--;
      return question;
    }
    return null;
  }
}
