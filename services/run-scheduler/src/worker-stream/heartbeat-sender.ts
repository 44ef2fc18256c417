// Reports to each owner once a second which runs this node's workers hold and the age of their last sign of life: one
// message per node, for any number of runs. It uses JetStream, or the peer stream while the bus is unavailable.
import type { Clock } from '@methods/base/clock';
import { type RunId, shardOfRunId } from '@methods/base/ids';
import type { HeldGrants } from './held-grants.ts';

export interface HeartbeatRun {
  readonly runId: RunId;
  readonly token: string;
  readonly ageMs: number;
}

/** Runs in one message of about 400 KiB. */
const RUNS_MAX = 5_000;

export class HeartbeatSender {
  private lastSentMs = Number.NEGATIVE_INFINITY;
  private wholeNext = true;
  /** Nodes that may have missed a message: the next one names every run. */
  private readonly missed = new Set<string>();

  constructor(
    private readonly options: {
      readonly clock: Clock;
      readonly nodeId: string;
      readonly shardCount: number;
      readonly leaseMs: number;
      readonly held: HeldGrants;
      readonly shards: { owns(shard: number): boolean; ownerOf(shard: number): string | null };
      readonly members: () => readonly string[];
      /** Sends to a node, which may be this one. Returns false if the delivery is not confirmed. Never rejects. */
      readonly send: (nodeId: string, runs: readonly HeartbeatRun[]) => Promise<boolean>;
    },
  ) {}

  /** Owners may have missed messages or changed: the next message names every run. */
  tellAll(): void {
    this.wholeNext = true;
  }

  /** Called once a second. */
  send(): void {
    const { clock, held, members, leaseMs } = this.options;
    const nowMs = clock.monotonicMs();
    held.forgetSilent(4 * leaseMs);
    // Includes this node even while the members do not list it: otherwise its own workers' leases would expire.
    const byOwner = new Map<string, HeartbeatRun[]>([[this.options.nodeId, []]]);
    for (const nodeId of members()) byOwner.set(nodeId, []);
    const missed = new Set(this.missed);
    this.missed.clear();
    for (const grant of held.all()) {
      if (!grant.accepted) continue;
      const owner = this.ownerOf(grant.runId);
      const runs = owner === null ? undefined : byOwner.get(owner);
      if (owner === null || runs === undefined) continue;
      if (grant.heardAtMs <= this.lastSentMs && !this.wholeNext && !missed.has(owner)) continue;
      runs.push({ runId: grant.runId, token: grant.token, ageMs: held.ageMs(grant) });
    }
    this.lastSentMs = nowMs;
    this.wholeNext = false;
    // An empty message also has a meaning: this node is reachable and its list is complete.
    for (const [nodeId, runs] of byOwner) {
      for (let from = 0; from === 0 || from < runs.length; from += RUNS_MAX) {
        void this.options.send(nodeId, runs.slice(from, from + RUNS_MAX)).then((heard) => {
          if (!heard) this.missed.add(nodeId);
        });
      }
    }
  }

  private ownerOf(runId: RunId): string | null {
    const shard = shardOfRunId(runId, this.options.shardCount);
    if (shard === null) return null;
    return this.options.shards.owns(shard) ? this.options.nodeId : this.options.shards.ownerOf(shard);
  }
}
