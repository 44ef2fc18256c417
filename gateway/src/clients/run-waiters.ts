// Requests that wait for a run to finish or to ask, or that follow all its changes. A wait ends by a pushed view. In
// case pushes stop (their node died, froze or lost the run's shard), the run is watched again, at once when its node is
// lost and otherwise every few seconds.

import type { Clock, Timer } from '@methods/base/clock';
import type { OrgId, RunId } from '@methods/base/ids';
import { Shares, type SharesOptions } from '@methods/base/shares';
import { overShare } from '@methods/errors/service-error';
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
  /** key_ or usr_: the caller within the organization for which the wait counts. */
  readonly id: string;
  readonly gone: boolean;
  /** Returns a function that removes the listener. */
  onGone(listener: () => void): () => void;
}

/** Gets every state of a run that arrives here, each newer than the one before. */
export interface RunFollower {
  changed(run: RunView): void;
  /** No more states follow: the process stops. */
  end(): void;
}

/** Reports whether the request waits for this state of the run. */
export function endsWait(run: RunView, afterQuestion: string | null): boolean {
  return isFinished(run) || (run.status === RunStatus.WAITING && run.question?.id !== afterQuestion);
}

/** A run for which requests of this gateway wait. */
export interface WaitedRun {
  readonly runId: RunId;
  readonly orgId: OrgId;
  readonly requestId: string;
  /** The newest state seen; null before the first. */
  latest: RunView | null;
  /** The number of requests that hold it. */
  holds: number;
  readonly waits: Set<Wait>;
  /** While there are any, every change is requested. */
  readonly followers: Set<RunFollower>;
  /** Nodes asked to watch it. */
  readonly watchedOn: Set<SchedulerNode>;
  /** Nodes that took its start or an answer; they push its next rest without a request. */
  readonly toldBy: Set<SchedulerNode>;
  /** The node that pushes; null: none does. */
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

  /** Holds the run so that views offered from now on are kept; call `release` once for each hold. */
  hold(orgId: OrgId, runId: RunId, requestId: string): WaitedRun {
    let run = this.runs.get(runId);
    // Another organization cannot know the id. If it guesses it, it gets a separate record, to which no run is offered.
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
    // The node has reported that the run finished, and forgets it without a request.
    const finished = run.latest !== null && isFinished(run.latest);
    if (!finished) for (const node of run.toldBy) if (!run.watchedOn.has(node)) node.unwatch(run.runId);
    if (this.runs.get(run.runId) === run) this.runs.delete(run.runId);
  }

  /** Returns the view that ends the wait, or null when the time is up, the caller is gone or the process stops. */
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

  /** Follows the run while it is held. Returns a function that ends it. */
  follow(run: WaitedRun, follower: RunFollower): () => void {
    run.followers.add(follower);
    if (this.stopping) follower.end();
    return () => run.followers.delete(follower);
  }

  /** Handles a state of a run, pushed or read. States older than the known one are ignored, so reads never go back. */
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

  /** The number of runs that are held. */
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

  /** The watch failed: it is repeated soon. */
  watchSoon(run: WaitedRun): void {
    run.source = null;
    run.watchAgainAtMs = this.clock.monotonicMs() + WATCH_RETRY_MS;
  }

  /** Ends every wait with the present state. */
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
