// The owner's side of leases: renews them when nodes report on their workers, ends them when they expire, and ends a
// run with a requested cancel at its worker's next sign of life.
import type { Clock } from '@methods/base/clock';
import type { RunId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import type { RunActors } from '../actor/run-actors.ts';
import type { Effect } from '../run/decision.ts';
import type { Run } from '../run/run.ts';
import { takenRun } from '../store/run-row.ts';
import type { TakenRun } from '../store/run-store.ts';
import { type Lease, LeaseTable, streamNumberOf } from './lease-table.ts';

export interface LeaseKeeperOptions {
  readonly nodeId: string;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly actors: () => RunActors;
  readonly ownsRun: (runId: RunId) => boolean;
  readonly isMember: (nodeId: string) => boolean;
  /** Asks the worker, through its node, to stop this run. */
  readonly cancelNotice: (nodeId: string, notice: { workerSession: string; runId: RunId; token: string }) => void;
  readonly refuse: (nodeId: string, runId: RunId, token: string) => void;
  readonly logger: Logger;
}

/** Nodes report on their workers once a second; after this time a node counts as silent. */
const SILENT_MS = 3_000;
const RETURN_AGAIN_MS = 1_000;
/** Nodes restart with new ids, so the ones silent for longest are forgotten. */
const NODES_MAX = 1_000;

export class LeaseKeeper {
  readonly leases: LeaseTable;
  private readonly heardAtMs = new Map<string, number>();

  constructor(private readonly options: LeaseKeeperOptions) {
    this.leases = new LeaseTable({
      clock: options.clock,
      leaseMs: options.leaseMs,
      standsStill: (nodeId) => this.standsStill(nodeId),
      expired: (lease) => this.expire(lease),
      unaccepted: (lease) => this.giveBack(lease, false),
    });
  }

  committed(_before: Run | null, after: Run, effects: readonly Effect[]): void {
    const { runId } = after.facts;
    for (const effect of effects) {
      if (effect.type === 'lease_ended') this.leases.ended(runId, effect.token);
      else if (effect.type === 'notify_cancel') this.askToCancel(runId, effect.token, effect.workerSession);
    }
  }

  /** A member node sent a message: its reports on its workers count as complete. */
  heardFrom(nodeId: string): void {
    this.heardAtMs.delete(nodeId);
    this.heardAtMs.set(nodeId, this.options.clock.monotonicMs());
    if (this.heardAtMs.size > NODES_MAX) this.heardAtMs.delete(this.heardAtMs.keys().next().value ?? '');
  }

  heartbeats(nodeId: string, runs: readonly { runId: RunId; token: string; ageMs: number }[]): void {
    this.heardFrom(nodeId);
    for (const { runId, token, ageMs } of runs) {
      if (!this.options.ownsRun(runId)) continue;
      if (!this.leases.renew(runId, token, nodeId, null, ageMs)) this.unknownHeartbeat(nodeId, runId, token, ageMs);
      else this.heardOfCancelled(nodeId, runId, token);
    }
  }

  /** A worker's list of held runs is authoritative for its earlier streams. */
  workerSeen(nodeId: string, seen: { session: string; held: readonly { runId: RunId; token: string }[] }): void {
    for (const { runId, token } of seen.held) {
      if (!this.options.ownsRun(runId)) continue;
      if (!this.leases.renew(runId, token, nodeId, seen.session)) this.unknownHeartbeat(nodeId, runId, token, 0);
    }
    const number = streamNumberOf(seen.session);
    const held = new Set(seen.held.map((h) => h.token));
    for (const lease of this.leases.ofWorker(seen.session)) {
      if (held.has(lease.token) || streamNumberOf(lease.session) >= number) continue;
      // The worker had the run and no longer holds it: the worker lost it, so the grant did arrive.
      this.leases.ended(lease.runId, lease.token);
      if (lease.accepted && lease.nodeId !== null) this.expire(lease);
      else this.giveBack(lease, true);
    }
  }

  /**
   * The grant reached no worker: ends its lease and queues the run again. `isLost`: if a worker has reported on it
   * nevertheless, it does not hold the run any more.
   */
  returnGrant(runId: RunId, token: string, isLost = false): void {
    const lease = this.leases.get(runId, token);
    if (lease !== null) {
      this.leases.ended(runId, token);
      this.giveBack(lease, isLost);
    } else {
      void this.options
        .actors()
        .tell(null, runId, { type: 'return_grant', token })
        .then((outcome) => {
          if (outcome.kind !== 'failed' || outcome.code !== 'unavailable') return;
          this.options.clock.after(RETURN_AGAIN_MS, () => this.returnGrant(runId, token));
        });
    }
  }

  /** The outs of the run's steps exceed what one grant can carry, so the run could never continue. */
  endTooLarge(runId: RunId, token: string): void {
    const message = 'The steps of this run returned more than 3.5 MiB in all: return files instead.';
    const error = { code: 'step_failed', kind: 'limit', message, step: '' };
    void this.options
      .actors()
      .tell(null, runId, { type: 'finish', token, seq: 1, isSealed: true, outcome: { status: 'failed', error } });
  }

  private giveBack(lease: Lease, isLost: boolean): void {
    const { runId, token } = lease;
    this.options.logger.warn({ run: runId }, 'grant reached no worker');
    void this.options
      .actors()
      .tell(null, runId, { type: 'return_grant', token })
      .then((outcome) => {
        // A row that is still running needs its lease, or the run would never be looked at again: either the store was
        // unavailable, or a worker did report under this grant and only time shows whether it still has it.
        const reported = outcome.kind === 'refused' && outcome.code === 'not_due';
        if (reported && isLost) return this.expire(lease);
        if (!reported && !(outcome.kind === 'failed' && outcome.code === 'unavailable')) return;
        const ageMs = this.options.clock.monotonicMs() - lease.renewedAtMs;
        this.takeBack({ ...lease, accepted: reported }, ageMs);
      });
  }

  private expire(lease: Lease): void {
    this.options.logger.warn({ run: lease.runId, worker: lease.session }, 'lease expired');
    void this.options
      .actors()
      .tell(null, lease.runId, { type: 'expire_lease', token: lease.token })
      .then((outcome) => {
        // The store was unavailable: the lease has ended anyway, and the next sweep retries.
        if (outcome.kind !== 'failed' || outcome.code !== 'unavailable') return;
        this.takeBack(lease, this.options.leaseMs + 1);
      });
  }

  /** Restores a lease that the run still needs, unless another one was granted or renewed meanwhile. */
  private takeBack(lease: Lease, ageMs: number): void {
    if (!this.leases.has(lease.runId)) this.leases.add({ ...lease, ageMs });
  }

  private askToCancel(runId: RunId, token: string, workerSession: string): void {
    const lease = this.leases.get(runId, token);
    if (lease === null) return;
    lease.cancelAskedAtMs = this.options.clock.monotonicMs();
    if (lease.nodeId !== null) this.options.cancelNotice(lease.nodeId, { workerSession, runId, token });
  }

  /**
   * The node's report may be from before the cancel was requested: then the worker must still be notified, and if it is
   * dead, only the end of its lease ends the run.
   */
  private heardOfCancelled(nodeId: string, runId: RunId, token: string): void {
    const lease = this.leases.get(runId, token);
    if (lease === null || lease.cancelAskedAtMs === null) return;
    if (lease.renewedAtMs >= lease.cancelAskedAtMs) {
      void this.options.actors().tell(null, runId, { type: 'heartbeat', token });
    }
    this.options.cancelNotice(nodeId, { workerSession: lease.session, runId, token });
  }

  /** Handles a heartbeat without a lease: the attempt is over, unless the shard was taken only just now. */
  private unknownHeartbeat(nodeId: string, runId: RunId, token: string, ageMs: number): void {
    void this.options
      .actors()
      .tell(null, runId, { type: 'heartbeat', token })
      .then((outcome) => {
        if (outcome.kind === 'refused') return this.options.refuse(nodeId, runId, token);
        if (outcome.kind !== 'accepted' || outcome.run.status !== 'running') return;
        this.restore(takenRun(outcome.run), nodeId, ageMs);
      });
  }

  /**
   * Adopts the lease of a run that was already running; `ageMs` is the time since its worker's last message. The worker
   * may not have been notified of a cancel that an earlier owner accepted.
   */
  restore(run: TakenRun, nodeId: string | null, ageMs: number): void {
    const { runId, shard, token, workerSession, cancelRequested } = run;
    this.leases.add({
      runId,
      shard,
      token,
      session: workerSession,
      nodeId,
      accepted: true,
      cancelAskedAtMs: cancelRequested ? this.options.clock.monotonicMs() : null,
      ageMs,
    });
    if (cancelRequested && nodeId !== null) this.options.cancelNotice(nodeId, { workerSession, runId, token });
  }

  private standsStill(nodeId: string): boolean {
    if (nodeId === this.options.nodeId || !this.options.isMember(nodeId)) return false;
    const heardAtMs = this.heardAtMs.get(nodeId) ?? Number.NEGATIVE_INFINITY;
    return this.options.clock.monotonicMs() - heardAtMs > SILENT_MS;
  }
}
