// Tracks which gateways wait for which runs. A gateway that started a run with a waiting caller is notified of its next
// rest (waiting or finished). A gateway that watches is notified until it stops watching, of every rest or, step by
// step, of every change. Each organization has a share of the runs that may be watched.
import type { Clock } from '@methods/base/clock';
import { type OrgId, type RunId, shardOfRunId } from '@methods/base/ids';
import { Shares, type SharesOptions } from '@methods/base/shares';
import { overShare, ServiceError } from '@methods/errors/service-error';
import { isFinished, type Run } from '../run/run.ts';
import { type RunViewMessage, runView } from '../wire/run-message.ts';
import { Pace } from './pace.ts';

export interface ViewReceiver {
  push(view: RunViewMessage, orgId: OrgId): void;
}

/**
 * `always`: notified of every rest of the run; `stepwise`: of every change, at a bounded pace. Otherwise of its next
 * rest, which is one behind a revision: a row read before an answer still shows the question that it answers.
 */
type Wish = 'always' | 'stepwise' | NextRest;

interface NextRest {
  /** The answers under way, whose revisions are not known yet. */
  answers: number;
  behindRevision: number;
  /** The newest rest that was pushed. */
  toldRevision: number;
}

interface Watched {
  readonly wishes: Map<ViewReceiver, Wish>;
  readonly leave: () => void;
}

/** A watched run takes less than 500 bytes. */
const PLACES = { placesMax: 100_000, perOrganizationMax: 20_000 };
/** The part for runs that were answered and not requested since. */
const ANSWERED_PLACES = { placesMax: 10_000, perOrganizationMax: 2_000 };
const POLL_MAX = 256;
const STEPWISE_TOLD_MAX = 1_000;
// The size of a view grows with its steps: a long one is sent less often.
const PUSH_EVERY_MS = 100;
const PUSH_EVERY_MS_PER_STEP = 0.2;

export class RunWatchers {
  private readonly watched = new Map<RunId, Watched>();
  private readonly places: Shares;
  private readonly answered: Shares;
  /** The number of watched runs of each shard; 0: none any more. */
  private readonly shards = new Map<number, number>();
  /** The watched shards of other nodes, whose changes arrive over the bus. */
  private readonly heard = new Set<number>();
  /** Shards without a watched run at the last check. */
  private idleShards = new Set<number>();
  /** Runs whose rows are being read. True: the run changed since, and must be read again. */
  private readonly behind = new Map<RunId, boolean>();
  private readonly pace: Pace;

  constructor(
    private readonly options: {
      readonly clock: Clock;
      readonly shardCount: number;
      readonly owns: (shard: number) => boolean;
      readonly read: (runId: RunId) => Promise<Run | null>;
      /** This node began or stopped watching runs of another node's shard. */
      readonly shardWatched: (shard: number, watched: boolean) => void;
      /** These runs of other nodes are watched here step by step. Called repeatedly while they are. */
      readonly stepsWatched: (runIds: readonly RunId[]) => void;
      /** The number of runs that may be watched; default 100,000, 20,000 of one organization. */
      readonly places?: SharesOptions;
      /** The part of them for answered runs; default 10,000, 2,000 of one organization. */
      readonly answeredPlaces?: SharesOptions;
    },
  ) {
    this.places = new Shares(options.places ?? PLACES);
    this.answered = new Shares(options.answeredPlaces ?? ANSWERED_PLACES);
    this.pace = new Pace(options.clock);
  }

  /** Beyond its organization's share the run is not watched: its gateway gets the state at its next request. */
  startedBy(orgId: OrgId, runId: RunId, receiver: ViewReceiver): void {
    const entry = this.entry(orgId, runId);
    if (entry instanceof ServiceError) return;
    if (!entry.wishes.has(receiver)) entry.wishes.set(receiver, nextRest(0));
  }

  /**
   * Pushes the run's next rest to the gateway that answers, as to the one that started it. That rest may be hours away
   * without a waiting caller, so such runs have a share of their own. `known`: the receiver watches the run already;
   * `full`: there is no place, and nothing is pushed. Otherwise `answeredAt` follows, or `unwatch`.
   */
  answeredBy(orgId: OrgId, runId: RunId, receiver: ViewReceiver): 'new' | 'known' | 'full' {
    let entry = this.watched.get(runId);
    const wish = entry?.wishes.get(receiver);
    if (typeof wish === 'object') wish.answers++;
    if (wish !== undefined) return 'known';
    if (entry === undefined) {
      const place = this.answered.take(orgId);
      if (!place.ok) return 'full';
      const taken = this.entry(orgId, runId, place.leave);
      if (taken instanceof ServiceError) {
        place.leave();
        return 'full';
      }
      entry = taken;
    }
    entry.wishes.set(receiver, nextRest(1));
    return 'new';
  }

  /** The answer made this revision, or the run was at this one already; 0 if it failed. */
  answeredAt(runId: RunId, receiver: ViewReceiver, revision: number): void {
    const entry = this.watched.get(runId);
    const wish = entry?.wishes.get(receiver);
    if (entry === undefined || typeof wish !== 'object') return;
    wish.answers--;
    wish.behindRevision = Math.max(wish.behindRevision, revision);
    if (!isTold(wish)) return;
    entry.wishes.delete(receiver);
    this.removeIfUnused(runId, entry);
  }

  /**
   * Returns false if this receiver watches the run already. @throws rate_limited, unavailable if no more may be watched
   */
  watch(orgId: OrgId, runId: RunId, receiver: ViewReceiver, steps = false): boolean {
    const entry = this.entry(orgId, runId);
    if (entry instanceof ServiceError) throw entry;
    const isNew = !entry.wishes.has(receiver);
    if (steps) entry.wishes.set(receiver, 'stepwise');
    else if (entry.wishes.get(receiver) !== 'stepwise') entry.wishes.set(receiver, 'always');
    if (steps && this.isForeign(runId)) this.options.stepsWatched([runId]);
    return isNew;
  }

  unwatch(runId: RunId, receiver: ViewReceiver): void {
    const entry = this.watched.get(runId);
    if (entry === undefined) return;
    entry.wishes.delete(receiver);
    this.removeIfUnused(runId, entry);
  }

  gone(receiver: ViewReceiver): void {
    for (const runId of [...this.watched.keys()]) this.unwatch(runId, receiver);
  }

  /** Handles a run that this node committed. */
  committed(_before: Run | null, after: Run): void {
    const { runId } = after.facts;
    const entry = this.watched.get(runId);
    if (entry === undefined) return;
    if (isAtRest(after)) {
      this.pace.forget(runId);
      this.tell(after);
    } else if (isStepwise(entry)) {
      const everyMs = Math.max(PUSH_EVERY_MS, after.steps.length * PUSH_EVERY_MS_PER_STEP);
      this.pace.run(runId, everyMs, () => this.tell(after));
    }
  }

  /** Handles a run that another node committed: reads its row, together with all others of the turn. */
  changedElsewhere(runIds: readonly RunId[]): void {
    for (const runId of runIds) {
      const entry = this.watched.get(runId);
      if (entry === undefined) continue;
      if (isStepwise(entry)) this.pace.run(runId, PUSH_EVERY_MS, () => this.catchUp(runId));
      else this.catchUp(runId);
    }
  }

  private catchUp(runId: RunId): void {
    if (this.behind.has(runId)) {
      this.behind.set(runId, true);
      return;
    }
    this.behind.set(runId, false);
    this.options.read(runId).then(
      (run) => {
        const changedSince = this.behind.get(runId) === true;
        this.behind.delete(runId);
        if (run !== null && (isAtRest(run) || this.isWatchedStepwise(runId))) this.tell(run);
        if (changedSince && this.watched.has(runId)) this.catchUp(runId);
      },
      // The next poll reads it again.
      () => this.behind.delete(runId),
    );
  }

  private tell(run: Run): void {
    const { runId } = run.facts;
    const entry = this.watched.get(runId);
    if (entry === undefined) return;
    const view = runView(run);
    const rests = isAtRest(run);
    const finished = isFinished(run);
    for (const [receiver, wish] of [...entry.wishes]) {
      if (rests || wish === 'stepwise') receiver.push(view, run.facts.orgId);
      if (rests && typeof wish === 'object') wish.toldRevision = Math.max(wish.toldRevision, run.revision);
      // A waiting run must use no memory here; a gateway that needs its next rest watches it.
      if (finished || (typeof wish === 'object' && isTold(wish))) entry.wishes.delete(receiver);
    }
    this.removeIfUnused(runId, entry);
  }

  /**
   * Compensates for lost messages: reads watched runs of other nodes now and then. Leaves shards without watched runs.
   */
  pollForeign(): void {
    this.leaveIdleShards();
    this.lookAtForeign();
  }

  /** Shards changed owners: the rows of shards that now belong to another node hold the changes made in between. */
  ownersChanged(): void {
    let isNew = false;
    for (const [shard, runs] of this.shards) if (runs > 0) isNew = this.hear(shard) || isNew;
    for (const shard of this.heard) if (this.options.owns(shard)) this.hearNoMore(shard);
    if (isNew) this.lookAtForeign();
  }

  private lookAtForeign(): void {
    const foreign: RunId[] = [];
    for (const runId of this.watched.keys()) {
      if (foreign.length === POLL_MAX) break;
      if (this.isForeign(runId)) foreign.push(runId);
    }
    for (const runId of foreign) {
      this.moveBack(runId);
      this.catchUp(runId);
    }
  }

  /** Owners announce every change only while they are notified that the run is watched. */
  tellStepwise(): void {
    const runIds: RunId[] = [];
    for (const [runId, entry] of this.watched) {
      if (runIds.length === STEPWISE_TOLD_MAX) break;
      if (isStepwise(entry) && this.isForeign(runId)) runIds.push(runId);
    }
    if (runIds.length > 0) this.options.stepsWatched(runIds);
  }

  private isForeign(runId: RunId): boolean {
    const shard = shardOfRunId(runId, this.options.shardCount);
    return shard !== null && !this.options.owns(shard);
  }

  private isWatchedStepwise(runId: RunId): boolean {
    const entry = this.watched.get(runId);
    return entry !== undefined && isStepwise(entry);
  }

  /** Moved to the end, so that the next poll begins with others. */
  private moveBack(runId: RunId): void {
    const entry = this.watched.get(runId);
    if (entry === undefined) return;
    this.watched.delete(runId);
    this.watched.set(runId, entry);
  }

  /** `left` is called when a new run has no watcher any more. */
  private entry(orgId: OrgId, runId: RunId, left: () => void = () => {}): Watched | ServiceError {
    const known = this.watched.get(runId);
    if (known !== undefined) return known;
    const place = this.places.take(orgId);
    if (!place.ok) return overShare('watched runs', place);
    const leave = () => {
      place.leave();
      left();
    };
    const entry = { wishes: new Map<ViewReceiver, Wish>(), leave };
    this.watched.set(runId, entry);
    this.countShard(runId, 1);
    return entry;
  }

  private removeIfUnused(runId: RunId, entry: Watched): void {
    if (entry.wishes.size > 0 || !this.watched.delete(runId)) return;
    entry.leave();
    this.pace.forget(runId);
    this.countShard(runId, -1);
  }

  private countShard(runId: RunId, by: number): void {
    const shard = shardOfRunId(runId, this.options.shardCount);
    if (shard === null) return;
    this.shards.set(shard, (this.shards.get(shard) ?? 0) + by);
    if (by > 0) this.hear(shard);
  }

  /** Returns true if it subscribes now. A node needs no subscription for its own commits. */
  private hear(shard: number): boolean {
    if (this.heard.has(shard) || this.options.owns(shard)) return false;
    this.heard.add(shard);
    this.options.shardWatched(shard, true);
    return true;
  }

  private hearNoMore(shard: number): void {
    if (this.heard.delete(shard)) this.options.shardWatched(shard, false);
  }

  /** A subscription ends at the second check that finds it idle; otherwise each short run would have its own. */
  private leaveIdleShards(): void {
    const idle = new Set<number>();
    for (const [shard, runs] of this.shards) {
      if (runs > 0) continue;
      if (!this.idleShards.has(shard)) idle.add(shard);
      else {
        this.shards.delete(shard);
        this.hearNoMore(shard);
      }
    }
    this.idleShards = idle;
  }
}

function nextRest(answers: number): NextRest {
  return { answers, behindRevision: 0, toldRevision: 0 };
}

/** Less than none are under way if the receiver stopped watching during one of them, and watches again. */
function isTold({ answers, behindRevision, toldRevision }: NextRest): boolean {
  return answers <= 0 && toldRevision > behindRevision;
}

function isStepwise({ wishes }: Watched): boolean {
  for (const wish of wishes.values()) if (wish === 'stepwise') return true;
  return false;
}

export function isAtRest(run: Run): boolean {
  return run.status === 'waiting' || isFinished(run);
}
