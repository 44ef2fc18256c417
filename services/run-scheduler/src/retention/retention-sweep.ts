// Deletes finished runs when their organization's retention is over. The node walks the shards it owns, one short page
// after the other with a pause between them, so that other runs are not affected.
import type { Clock, Timer } from '@methods/base/clock';
import { type OrgId, runIdBound } from '@methods/base/ids';
import type { RetentionDays } from '@methods/base/retention-days';
import type { Stoppable } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';
import type { DatabaseClock } from '../store/database-clock.ts';
import type { AgedRun, OldRuns, RunKey } from './old-runs.ts';

const DAY_MS = 86_400_000;
const PAGE_RUNS = 500;
const DELETED_MAX = 200;
/**
 * If a statement takes longer, the next one deletes half as many: a run may have thousands of steps, or a large folder.
 */
const LONG_MS = 100;
const PAUSE_MS = 50;
/** After a deletion the pause is this many times its length. */
const PAUSE_TIMES = 4;
const AFTER_FAILURE_MS = 60_000;

export interface RetentionSweepOptions {
  readonly runs: OldRuns;
  readonly retention: RetentionDays;
  readonly ownedShards: () => readonly number[];
  readonly epochOf: (shard: number) => number | null;
  readonly databaseClock: DatabaseClock;
  readonly clock: Clock;
  readonly random: () => number;
  /** From the end of one walk to the next. */
  readonly sweepMs: number;
  readonly logger: Logger;
}

/** One walk over the shards owned at its beginning. */
interface Walk {
  /** The first is being walked. */
  readonly shards: number[];
  after: RunKey | null;
  readonly deleted: { runs: number; steps: number; folders: number };
}

export class RetentionSweep implements Stoppable {
  private walk: Walk | null = null;
  private deletedAtOnce = DELETED_MAX >> 2;
  private timer: Timer | null = null;
  private stepping: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(private readonly options: RetentionSweepOptions) {}

  /** The first walk begins at a random moment, so that nodes do not all walk at once. */
  start(): void {
    this.later(this.options.sweepMs * this.options.random());
  }

  /** Resolves when no statement is in flight any more. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    await this.stepping;
    this.tell();
  }

  private later(delayMs: number): void {
    if (this.stopped) return;
    this.timer = this.options.clock.after(delayMs, () => {
      this.stepping = this.go();
    });
  }

  private async go(): Promise<void> {
    this.walk ??= { shards: [...this.options.ownedShards()], after: null, deleted: { runs: 0, steps: 0, folders: 0 } };
    try {
      const tookMs = await this.step(this.walk);
      if (this.walk.shards.length > 0) return this.later(Math.max(PAUSE_MS, tookMs * PAUSE_TIMES));
      this.tell();
      this.walk = null;
      this.later(this.options.sweepMs);
    } catch (error) {
      this.deletedAtOnce = Math.max(1, this.deletedAtOnce >> 1);
      this.options.logger.warn({ error }, 'old runs could not be deleted; trying again later');
      this.later(Math.min(AFTER_FAILURE_MS, this.options.sweepMs));
    }
  }

  /** Processes one page of one shard; returns how long its deletion took, in ms. */
  private async step(walk: Walk): Promise<number> {
    const { runs, retention, databaseClock, epochOf } = this.options;
    const [shard] = walk.shards;
    if (shard === undefined) return 0;
    if (epochOf(shard) === null) return nextShard(walk);
    const nowMs = databaseClock.nowMs();
    // No organization keeps less than a day.
    const page = await runs.page(shard, walk.after, nowMs - DAY_MS, PAGE_RUNS);
    const days = await retention.of(page.map((run) => run.orgId));
    const old = oldOf(page, shard, days, nowMs);
    const chosen = old.slice(0, this.deletedAtOnce);
    const tookMs = await this.delete(walk, shard, chosen);
    if (tookMs === null) return nextShard(walk);
    if (chosen.length < old.length) walk.after = chosen.at(-1) ?? null;
    else if (page.length === PAGE_RUNS) walk.after = page.at(-1) ?? null;
    else nextShard(walk);
    return tookMs;
  }

  /** Returns null when the shard has another owner. */
  private async delete(walk: Walk, shard: number, chosen: readonly AgedRun[]): Promise<number | null> {
    if (chosen.length === 0) return 0;
    const epoch = this.options.epochOf(shard);
    if (epoch === null) return null;
    const beganMs = this.options.clock.monotonicMs();
    const { held, ...deleted } = await this.options.runs.delete(shard, epoch, chosen);
    if (!held) return null;
    const tookMs = this.options.clock.monotonicMs() - beganMs;
    this.deletedAtOnce =
      tookMs > LONG_MS ? Math.max(1, this.deletedAtOnce >> 1) : Math.min(DELETED_MAX, 2 * this.deletedAtOnce);
    walk.deleted.runs += deleted.runs;
    walk.deleted.steps += deleted.steps;
    walk.deleted.folders += deleted.folders;
    return tookMs;
  }

  private tell(): void {
    const deleted = this.walk?.deleted;
    if (deleted !== undefined && deleted.runs > 0) this.options.logger.info(deleted, 'old runs deleted');
  }
}

/** Returns the runs that were started before their organization's retention began; the deletion checks their end. */
function oldOf(page: readonly RunKey[], shard: number, days: ReadonlyMap<OrgId, number>, nowMs: number): AgedRun[] {
  return page.flatMap((run) => {
    const keptDays = days.get(run.orgId);
    if (keptDays === undefined || run.runId >= runIdBound(shard, nowMs - keptDays * DAY_MS)) return [];
    return [{ ...run, keptDays }];
  });
}

function nextShard(walk: Walk): 0 {
  walk.shards.shift();
  walk.after = null;
  return 0;
}
