// Finds out after a take-over which running runs of the shards a worker still holds. It asks every live node; a run
// whose worker is connected but does not hold it was never granted and is queued again. Only runs that no node reports
// wait for the rest of their lease.
import { Backoff } from '@methods/base/backoff';
import type { Clock } from '@methods/base/clock';
import type { RunId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import type { RunActors } from '../actor/run-actors.ts';
import type { ShardEpoch } from '../shard/shard-lease.ts';
import { takenRun } from '../store/run-row.ts';
import type { RunStore, TakenRun } from '../store/run-store.ts';
import type { PeerSender } from '../wire/peer-link.ts';
import type { HeldGrants } from './held-grants.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import { streamNumberOf, workerOf } from './lease-table.ts';

/** The runs that one node reports as held. */
export interface HeldReport {
  readonly nodeId: string;
  readonly grants: readonly {
    runId: RunId;
    token: string;
    workerSession: string;
    heartbeatAgeMs: number;
    accepted: boolean;
  }[];
  readonly workerSessions: readonly string[];
}

const ASK_MS = 2_000;

export class LeaseRecovery {
  constructor(
    private readonly options: {
      readonly nodeId: string;
      readonly store: RunStore;
      readonly actors: RunActors;
      readonly keeper: LeaseKeeper;
      readonly held: HeldGrants;
      readonly sessions: () => readonly string[];
      readonly peers: PeerSender;
      readonly epochOf: (shard: number) => number | null;
      /** Reports whether a claim of this node under this token is in progress; its end decides about the run. */
      readonly isClaiming: (token: string) => boolean;
      readonly clock: Clock;
      readonly logger: Logger;
    },
  ) {}

  /**
   * Also called after an epoch was renewed: a claim whose commit got no reply may have left a running row without a
   * lease.
   */
  async taken(shards: readonly number[]): Promise<void> {
    const again = new Backoff({ firstMs: 50, maxMs: 1_000, jitter: 0.5 });
    for (;;) {
      const held = shards.flatMap((shard) => {
        const epoch = this.options.epochOf(shard);
        return epoch === null ? [] : [{ shard, epoch }];
      });
      if (held.length === 0) return;
      try {
        return await this.takeUp(held);
      } catch (error) {
        // Without leases these runs would wait forever: no other part looks at them.
        this.options.logger.warn({ error }, 'running runs of taken shards could not be read');
      }
      await new Promise<void>((resolve) => this.options.clock.after(again.nextMs(), resolve));
    }
  }

  private async takeUp(shards: readonly ShardEpoch[]): Promise<void> {
    const runs = await this.options.store.runningOf(shards);
    // A message of the worker may have restored a lease already; it is newer than the row.
    const open = runs.filter((run) => !this.options.keeper.leases.has(run.runId));
    for (const read of open) {
      const run = this.asCommitted(read);
      if (run !== null) this.options.keeper.restore(run, null, 0);
    }
    const reports = await Promise.all(
      [this.options.nodeId, ...this.options.peers.connected()].map((nodeId) => this.ask(nodeId, shards)),
    );
    this.compare(
      open,
      reports.flatMap((report) => report ?? []),
    );
  }

  /**
   * Returns the runs of these shards that this node's workers hold; grants of earlier epochs are dropped from here on.
   */
  heldHere(shards: readonly ShardEpoch[]): HeldReport {
    const wanted = new Set(shards.map((s) => s.shard));
    for (const { shard, epoch } of shards) this.options.held.barrier(shard, epoch);
    const grants: HeldReport['grants'][number][] = [];
    for (const held of this.options.held.all()) {
      if (!wanted.has(held.shard)) continue;
      grants.push({
        runId: held.runId,
        token: held.token,
        workerSession: held.session,
        heartbeatAgeMs: this.options.held.ageMs(held),
        accepted: held.accepted,
      });
    }
    return { nodeId: this.options.nodeId, grants, workerSessions: this.options.sessions() };
  }

  private async ask(nodeId: string, shards: readonly ShardEpoch[]): Promise<HeldReport | null> {
    if (nodeId === this.options.nodeId) return this.heldHere(shards);
    try {
      const request = { case: 'heldRequest' as const, value: { shards: shards.map((s) => ({ ...s })) } };
      const reply = await this.options.peers.request(nodeId, { item: request }, ASK_MS);
      if (reply.item.case !== 'heldReply') return null;
      return { nodeId, grants: reply.item.value.grants, workerSessions: reply.item.value.workerSessions };
    } catch {
      return null;
    }
  }

  private compare(runs: readonly TakenRun[], reports: readonly HeldReport[]): void {
    const { leases } = this.options.keeper;
    const heldBy = new Map<string, { nodeId: string; grant: HeldReport['grants'][number] }>();
    const streams = new Map<string, number>();
    for (const { nodeId, grants, workerSessions } of reports) {
      for (const grant of grants) heldBy.set(grant.token, { nodeId, grant });
      for (const session of workerSessions) {
        streams.set(workerOf(session), Math.max(streamNumberOf(session), streams.get(workerOf(session)) ?? 0));
      }
    }
    for (const read of runs) {
      const run = this.asCommitted(read);
      if (run === null) continue;
      const lease = leases.get(run.runId, run.token);
      // The lease was granted or renewed since the row was read.
      if (lease === null || lease.nodeId !== null) continue;
      const held = heldBy.get(run.token);
      if (held !== undefined) {
        this.options.keeper.restore(run, held.nodeId, held.grant.heartbeatAgeMs);
        leases.renew(run.runId, run.token, held.nodeId, held.grant.workerSession, held.grant.heartbeatAgeMs);
        // A delivered grant may not have been accepted: only runs that the worker has reported on are lost with it.
        const restored = leases.get(run.runId, run.token);
        if (restored !== null) restored.accepted = held.grant.accepted;
        continue;
      }
      const number = streams.get(workerOf(run.workerSession));
      if (number === undefined || number < streamNumberOf(run.workerSession)) continue;
      // The claim was committed a moment ago, so its worker cannot have the grant yet.
      if (this.options.isClaiming(run.token)) continue;
      // A worker that was asked to stop holds the run no longer; its reply may have been lost with the last owner.
      this.options.keeper.returnGrant(run.runId, run.token, run.cancelRequested);
    }
  }

  /**
   * Commands and reports arrive while rows are read and nodes asked, and the row lacks a cancel from that time. Returns
   * null if the run is no longer running.
   */
  private asCommitted(read: TakenRun): TakenRun | null {
    const resident = this.options.actors.resident(read);
    if (resident === null || resident.revision <= read.revision) return read;
    return resident.status === 'running' ? takenRun(resident) : null;
  }
}
