// Requests that wait for a run to finish or to ask, or that follow all its changes. A wait ends by a pushed view; in
// case pushes stop (their node died, froze or lost the run's shard) the run is watched again, at once when its node is
// lost and every few seconds anyway.

import type { Clock, Timer } from '@methods/base/clock';
import type { OrgId, RunId } from '@methods/base/ids';
import { Shares, type SharesOptions } from '@methods/base/shares';
import { overShare } from '@methods/errors/over-share';
import { RunStatus, type RunView } from '@methods/proto/run/v1/run_pb';
import { isFinished } from '../views/run-view.ts';
import type { SchedulerNode } from './scheduler-node.ts';

export interface WaitRequest {
  readonly waitMs: number;
  /** A run that waits on this question does not end the wait. */
  readonly afterQuestion: string | null;
}

/** The waiting request: its connection may end before the wait does. */
export interface WaitingCaller {
  /** key_ or usr_: the caller within the organization that the wait counts for. */
  readonly id: string;
  readonly gone: boolean;
  /** Returns a function that removes the listener. */
  onGone(listener: () => void): () => void;
}

/** Sees every state of a run that comes here, each newer than the one before. */
export interface RunFollower {
  changed(run: RunView): void;
  /** No more will come: the process stops. */
  end(): void;
}

/** Whether a run is what the request waits for. */
export function endsWait(run: RunView, afterQuestion: string | null): boolean {
  return isFinished(run) || (run.status === RunStatus.WAITING && run.question?.id !== afterQuestion);
}

/** One run that requests of this gateway wait for. */
export interface WaitedRun {
  readonly runId: RunId;
  readonly orgId: OrgId;
  readonly requestId: string;
  /** The newest state seen; null before the first. */
  latest: RunView | null;
  /** Requests that hold it. */
  holds: number;
  readonly waits: Set<Wait>;
  /** While there are any, every change is asked for. */
  readonly followers: Set<RunFollower>;
  /** Nodes asked to watch it. */
  readonly watchedOn: Set<SchedulerNode>;
  /** Nodes that took its start or an answer; they push its next rest unasked. */
  readonly toldBy: Set<SchedulerNode>;
  /** Where pushes come from; null: from nowhere. */
  source: SchedulerNode | null;
  /** Monotonic ms. */
  watchAgainAtMs: number;
}

interface Wait {
  readonly afterQuestion: string | null;
  readonly end: (run: RunView | null) => void;
}

const WATCH_AGAIN_MS = 5_000;
const WATCH_RETRY_MS = 500;
const WAITS = { placesMax: 50_000, perOrganizationMax: 5_000 };

export class RunWaiters {
  private readonly runs = new Map<RunId, WaitedRun>();
  private readonly places: Shares;
  private stopping = false;

  constructor(
    private readonly clock: Clock,
    /** Asks a node to push the run's changes; the reply is given to `offer`. */
    private readonly watch: (run: WaitedRun) => void,
    places: SharesOptions = WAITS,
  ) {
    this.places = new Shares(places);
  }

  /**
   * Takes a place among the waits, before any work for a request that waits; the returned function releases it.
   * @throws rate_limited, unavailable
   */
  enter(orgId: OrgId, caller: WaitingCaller): () => void {
    const place = this.places.take(orgId, caller.id);
    if (!place.ok) throw overShare('waiting requests', place);
    return place.leave;
  }

  /** Holds the run so that views offered from now on are kept; `release` once for each hold. */
  hold(orgId: OrgId, runId: RunId, requestId: string): WaitedRun {
    let run = this.runs.get(runId);
    // Another organization cannot know the id; if it guesses it, it gets a separate record that no run is offered to.
    if (!run || run.orgId !== orgId) {
      const watchAgainAtMs = this.clock.monotonicMs() + WATCH_AGAIN_MS;
      run = {
        runId,
        orgId,
        requestId,
        latest: null,
        holds: 0,
        waits: new Set(),
        followers: new Set(),
        watchedOn: new Set(),
        toldBy: new Set(),
        source: null,
        watchAgainAtMs,
      };
      if (!this.runs.has(runId)) this.runs.set(runId, run);
    }
    run.holds++;
    return run;
  }

  release(run: WaitedRun): void {
    run.holds--;
    if (run.holds > 0) return;
    for (const node of run.watchedOn) node.unwatch(run.runId);
    // The node has reported that the run finished, and forgets it by itself.
    const finished = run.latest !== null && isFinished(run.latest);
    if (!finished) for (const node of run.toldBy) if (!run.watchedOn.has(node)) node.unwatch(run.runId);
    if (this.runs.get(run.runId) === run) this.runs.delete(run.runId);
  }

  /** The view that ends the wait, or null when the time is up, the caller is gone or the process stops. */
  wait(run: WaitedRun, { waitMs, afterQuestion }: WaitRequest, caller: WaitingCaller): Promise<RunView | null> {
    return new Promise((resolve) => {
      if (run.latest && endsWait(run.latest, afterQuestion)) return resolve(run.latest);
      if (this.stopping || caller.gone) return resolve(null);
      let timer: Timer | null = null;
      const wait: Wait = {
        afterQuestion,
        end: (view) => {
          if (!run.waits.delete(wait)) return;
          timer?.cancel();
          stopListening();
          resolve(view);
        },
      };
      const giveUp = () => wait.end(null);
      run.waits.add(wait);
      timer = this.clock.after(waitMs, giveUp);
      const stopListening = caller.onGone(giveUp);
    });
  }

  /** While the run is held. Returns a function that ends it. */
  follow(run: WaitedRun, follower: RunFollower): () => void {
    run.followers.add(follower);
    if (this.stopping) follower.end();
    return () => run.followers.delete(follower);
  }

  /** A state of a run, pushed or read. Older ones than known are ignored: reads never go back. */
  offer(view: RunView): void {
    const run = this.runs.get(view.runId);
    if (run) this.see(run, view);
  }

  see(run: WaitedRun, view: RunView): void {
    if (run.latest && run.latest.revision >= view.revision) return;
    run.latest = view;
    for (const follower of run.followers) follower.changed(view);
    for (const wait of run.waits) if (endsWait(view, wait.afterQuestion)) wait.end(view);
  }

  /** Pushes of this node are no longer reliable. */
  onSourceLost(node: SchedulerNode): void {
    for (const run of this.runs.values()) {
      run.watchedOn.delete(node);
      if (run.source === node) this.watchAgain(run);
    }
  }

  /** Runs that are held. */
  get size(): number {
    return this.runs.size;
  }

  /** Called every 100 ms while there are any. */
  sweep(): void {
    const nowMs = this.clock.monotonicMs();
    for (const run of this.runs.values()) {
      if (run.watchAgainAtMs <= nowMs || (run.source !== null && run.source.rank <= 1)) this.watchAgain(run);
    }
  }

  /** The watch failed. */
  watchSoon(run: WaitedRun): void {
    run.source = null;
    run.watchAgainAtMs = this.clock.monotonicMs() + WATCH_RETRY_MS;
  }

  /** Every wait ends with the present state. */
  stop(): void {
    this.stopping = true;
    for (const run of this.runs.values()) {
      for (const wait of run.waits) wait.end(null);
      for (const follower of run.followers) follower.end();
    }
  }

  private watchAgain(run: WaitedRun): void {
    run.source = null;
    run.watchAgainAtMs = this.clock.monotonicMs() + WATCH_AGAIN_MS;
    if (run.waits.size > 0 || run.followers.size > 0) this.watch(run);
  }
}
