// What a node does every so often, mostly against messages that were lost.
import { Clock } from '@methods/base/clock';
import { inject, injectable } from 'tsyringe';
import { RunActors } from '../actor/run-actors.ts';
import { EventRelay } from '../bus/event-relay.ts';
import { ClaimWaiters } from '../queue/claim-waiters.ts';
import { ReadyRuns } from '../queue/ready-runs.ts';
import { FolderSweep } from '../retention/folder-sweep.ts';
import { RunWatchers } from '../rpc/run-watchers.ts';
import { OpenQuestionSweep } from '../store/open-question-sweep.ts';
import { RetiredIndex } from '../store/retired-index.ts';
import { HeartbeatSender } from '../worker-stream/heartbeat-sender.ts';
import { HelloPace } from '../worker-stream/hello-pace.ts';
import { LeaseKeeper } from '../worker-stream/lease-keeper.ts';
import { WorkerSessions } from '../worker-stream/worker-sessions.ts';
import { ClockLook } from './clock-look.ts';
import { Ticks } from './ticks.ts';

/** A busy node is late by less. */
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
    @inject(HelloPace) helloPace: HelloPace,
    @inject(LeaseKeeper) keeper: LeaseKeeper,
    @inject(ClockLook) clockLook: ClockLook,
    @inject(WorkerSessions) sessions: WorkerSessions,
    @inject(HeartbeatSender) heartbeats: HeartbeatSender,
  ) {
    super(clock);
    // An offered place whose answer was lost is free again.
    this.every(500, () => waiters.sweep());
    // A node may have forgotten a head that was announced to it.
    this.every(1_000, () => ready.tellHeads());
    // A queue that seems empty may have missed a wake-up.
    this.every(5_000, () => void ready.recheckEmpty());
    // Unconfirmed events, and changes of watched runs whose message was lost.
    this.every(2_500, () => void relay.sweep());
    this.every(5_000, () => watchers.pollForeign());
    this.every(2_000, () => watchers.tellStepwise());
    // Idle actors and unneeded folders.
    this.every(2_500, () => actors.sweep());
    this.every(600_000, () => void folderSweep.sweep());
    // Only nodes of the release before need it.
    this.every(600_000, () => void retiredIndex.look());
    // Nodes of the release before leave rows of questions open.
    this.every(10_000, () => void questionSweep.look());
    // Keys whose workers have not come for a while.
    this.every(60_000, () => helloPace.sweep());
    this.every(500, (lateMs) => {
      if (lateMs > STOOD_STILL_MS) keeper.leases.stoodStill(lateMs);
      keeper.leases.sweep();
    });
    // A clock that was set goes unnoticed where nothing is committed.
    this.every(2_000, () => void clockLook.look());
    // Workers whose key was revoked while the message was lost.
    this.every(5_000, () => void sessions.recheckKeys());
    this.every(1_000, () => heartbeats.send());
  }
}
