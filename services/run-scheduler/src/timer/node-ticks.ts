// The repeated tasks of a node, most of which compensate for lost messages.
import { Clock } from '@methods/base/clock';
import type { Stoppable } from '@methods/base/stoppable';
import { inject, injectable } from 'tsyringe';
import { RunActors } from '../actor/run-actors.ts';
import { EventRelay } from '../bus/event-relay.ts';
import { ClaimWaiters } from '../queue/claim-waiters.ts';
import { ReadyRuns } from '../queue/ready-runs.ts';
import { FolderSweep } from '../retention/folder-sweep.ts';
import { RunWatchers } from '../rpc/run-watchers.ts';
import { ClockLook } from '../store/database-clock.ts';
import { OpenQuestionSweep } from '../store/open-question-sweep.ts';
import { RetiredIndex } from '../store/retired-index.ts';
import { HeartbeatSender } from '../worker-stream/heartbeat-sender.ts';
import { HelloPace } from '../worker-stream/hello-pace.ts';
import { LeaseKeeper } from '../worker-stream/lease-keeper.ts';
import { WorkerSessions } from '../worker-stream/worker-sessions.ts';
import { TimeoutAnswers } from './timeout-answers.ts';

interface Tick {
  readonly everyMs: number;
  readonly run: (lateMs: number) => void;
}

/**
 * The node's coarse ticks: small repeated checks that compensate for lost messages; each has its reason where it is
 * added.
 */
export class Ticks implements Stoppable {
  private readonly ticks: Tick[] = [];
  private readonly timers = new Set<{ cancel(): void }>();
  private running = false;

  constructor(private readonly clock: Clock) {}

  /** Calls `run` with the time by which it is late, during which the node was blocked. */
  every(everyMs: number, run: (lateMs: number) => void): void {
    this.ticks.push({ everyMs, run });
  }

  start(): void {
    this.running = true;
    for (const tick of this.ticks) this.schedule(tick);
  }

  stop(): void {
    this.running = false;
    for (const timer of this.timers) timer.cancel();
    this.timers.clear();
  }

  // At whole multiples of its interval, so that ticks of several intervals wake the process once.
  private schedule(tick: Tick): void {
    const { everyMs } = tick;
    const nowMs = this.clock.monotonicMs();
    const soonMs = everyMs - (nowMs % everyMs);
    const delayMs = Math.ceil(soonMs < everyMs / 2 ? soonMs + everyMs : soonMs);
    const dueAtMs = nowMs + delayMs;
    const timer = this.clock.after(delayMs, () => {
      this.timers.delete(timer);
      if (!this.running) return;
      tick.run(this.clock.monotonicMs() - dueAtMs);
      this.schedule(tick);
    });
    this.timers.add(timer);
  }
}

/** A busy node is late by less than this. */
const STOOD_STILL_MS = 1_000;

@injectable()
export class NodeTicks extends Ticks {
  constructor(
    @inject(Clock) clock: Clock,
    @inject(ClaimWaiters) waiters: ClaimWaiters,
    @inject(ReadyRuns) ready: ReadyRuns,
    @inject(EventRelay) relay: EventRelay,
    @inject(RunWatchers) watchers: RunWatchers,
    @inject(RunActors) actors: RunActors,
    @inject(FolderSweep) folderSweep: FolderSweep,
    @inject(RetiredIndex) retiredIndex: RetiredIndex,
    @inject(OpenQuestionSweep) questionSweep: OpenQuestionSweep,
    @inject(TimeoutAnswers) timeouts: TimeoutAnswers,
    @inject(HelloPace) helloPace: HelloPace,
    @inject(LeaseKeeper) keeper: LeaseKeeper,
    @inject(ClockLook) clockLook: ClockLook,
    @inject(WorkerSessions) sessions: WorkerSessions,
    @inject(HeartbeatSender) heartbeats: HeartbeatSender,
  ) {
    super(clock);
    // Frees an offered place whose reply was lost.
    this.every(500, () => waiters.sweep());
    // A node may have forgotten a head that was announced to it.
    this.every(1_000, () => ready.tellHeads());
    // A queue that seems empty may have missed a wake-up. Rows that have left the others are passed over now, not by a claim.
    this.every(5_000, () => void ready.recheck());
    // Sends unconfirmed events again, and reads changes of watched runs whose message was lost.
    this.every(2_500, () => void relay.sweep());
    this.every(5_000, () => watchers.pollForeign());
    this.every(2_000, () => watchers.tellStepwise());
    // Removes idle actors and unneeded folders.
    this.every(2_500, () => actors.sweep());
    this.every(600_000, () => void folderSweep.sweep());
    // Needed only after nodes of the previous release.
    this.every(600_000, () => void retiredIndex.look());
    // Nodes of the previous release leave rows of questions open.
    this.every(10_000, () => void questionSweep.look());
    // A node may have died before the audit log had the answer of a deadline.
    this.every(5_000, () => void timeouts.look());
    // Removes keys whose workers have not connected for a while.
    this.every(60_000, () => helloPace.sweep());
    this.every(500, (lateMs) => {
      if (lateMs > STOOD_STILL_MS) keeper.leases.stoodStill(lateMs);
      keeper.leases.sweep();
    });
    // Without commits, a clock that was set goes unnoticed.
    this.every(2_000, () => void clockLook.look());
    // Ends workers whose key was revoked while the message was lost.
    this.every(5_000, () => void sessions.recheckKeys());
    this.every(1_000, () => heartbeats.send());
  }
}
