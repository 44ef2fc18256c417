// The leases of the running runs this node owns, by this node's monotonic clock alone. A lease is renewed by what
// its worker says; while the worker's node lives but cannot be heard, its leases stand still.
import type { Clock } from '@methods/base/clock';

export interface Lease {
  readonly runId: string;
  readonly shard: number;
  readonly token: string;
  session: string;
  /** Node the worker's stream is at; null after a take-over until some node speaks for it. */
  nodeId: string | null;
  renewedAtMs: number;
  grantedAtMs: number;
  accepted: boolean;
  /** Null: not asked to cancel. A sign of life that is younger than this ends the run. */
  cancelAskedAtMs: number | null;
}

export interface LeaseTableOptions {
  readonly clock: Clock;
  readonly leaseMs: number;
  /** The node is alive by membership but its heartbeats have not come for a while. */
  readonly standsStill: (nodeId: string) => boolean;
  readonly expired: (lease: Lease) => void;
  /** Granted, and not taken up by any worker in time. */
  readonly unaccepted: (lease: Lease) => void;
}

const ACCEPT_MS = 10_000;

export class LeaseTable {
  private readonly leases = new Map<string, Lease>();
  /** Runs by worker, for a worker that comes back on another stream. */
  private readonly byWorker = new Map<string, Set<string>>();
  private sweptAtMs: number;

  constructor(private readonly options: LeaseTableOptions) {
    this.sweptAtMs = options.clock.monotonicMs();
  }

  add(lease: Omit<Lease, 'renewedAtMs' | 'grantedAtMs'> & { readonly ageMs?: number }): void {
    const nowMs = this.options.clock.monotonicMs();
    this.remove(lease.runId);
    const { ageMs = 0, ...rest } = lease;
    this.leases.set(lease.runId, { ...rest, renewedAtMs: nowMs - ageMs, grantedAtMs: nowMs });
    const worker = workerOf(lease.session);
    const runs = this.byWorker.get(worker);
    if (runs === undefined) this.byWorker.set(worker, new Set([lease.runId]));
    else runs.add(lease.runId);
  }

  /** The lease of this run, only if the token is its own. */
  get(runId: string, token: string): Lease | null {
    const lease = this.leases.get(runId);
    return lease?.token === token ? lease : null;
  }

  has(runId: string): boolean {
    return this.leases.has(runId);
  }

  /** The worker spoke `ageMs` ago, through `nodeId`. An older word than the last renews nothing. */
  renew(runId: string, token: string, nodeId: string, session: string | null, ageMs = 0): boolean {
    const lease = this.get(runId, token);
    if (lease === null) return false;
    lease.accepted = true;
    lease.nodeId = nodeId;
    if (session !== null) lease.session = session;
    lease.renewedAtMs = Math.max(lease.renewedAtMs, this.options.clock.monotonicMs() - ageMs);
    return true;
  }

  ended(runId: string, token: string): void {
    if (this.get(runId, token) !== null) this.remove(runId);
  }

  dropShards(shards: ReadonlySet<number>): void {
    for (const lease of [...this.leases.values()]) if (shards.has(lease.shard)) this.remove(lease.runId);
  }

  /** Leases granted to earlier streams of this worker, or this one. */
  ofWorker(session: string): Lease[] {
    const runs = this.byWorker.get(workerOf(session)) ?? [];
    return [...runs].flatMap((runId) => this.leases.get(runId) ?? []);
  }

  /**
   * This node stood still for so long, and what its workers said meanwhile is still to be read: no lease runs down by
   * it. To be called before the sweep that follows.
   */
  stoodStill(gapMs: number): void {
    const nowMs = this.options.clock.monotonicMs();
    for (const lease of this.leases.values()) standStill(lease, gapMs, nowMs);
  }

  /** Called a few times a second. */
  sweep(): void {
    const nowMs = this.options.clock.monotonicMs();
    const sinceMs = nowMs - this.sweptAtMs;
    this.sweptAtMs = nowMs;
    for (const lease of [...this.leases.values()]) {
      if (lease.nodeId !== null && this.options.standsStill(lease.nodeId)) {
        // What it had left it still has when the node is heard again: by then not all its workers have spoken.
        standStill(lease, sinceMs, nowMs);
      } else if (nowMs - lease.renewedAtMs > this.options.leaseMs) {
        this.remove(lease.runId);
        this.options.expired(lease);
      } else if (!lease.accepted && nowMs - lease.grantedAtMs > Math.min(ACCEPT_MS, this.options.leaseMs)) {
        if (lease.nodeId === null) continue;
        this.remove(lease.runId);
        this.options.unaccepted(lease);
      }
    }
  }

  get size(): number {
    return this.leases.size;
  }

  private remove(runId: string): void {
    const lease = this.leases.get(runId);
    if (lease === undefined) return;
    this.leases.delete(runId);
    const worker = workerOf(lease.session);
    const runs = this.byWorker.get(worker);
    runs?.delete(runId);
    if (runs?.size === 0) this.byWorker.delete(worker);
  }
}

/** Never beyond now: that would be more than a whole lease. */
function standStill(lease: Lease, forMs: number, nowMs: number): void {
  lease.renewedAtMs += Math.min(forMs, nowMs - lease.renewedAtMs);
  lease.grantedAtMs += Math.min(forMs, nowMs - lease.grantedAtMs);
}

/** A session names its worker and the number of the stream: `<worker id>.<number>`. */
export function workerOf(session: string): string {
  return session.slice(0, session.lastIndexOf('.'));
}

export function streamNumberOf(session: string): number {
  return Number(session.slice(session.lastIndexOf('.') + 1));
}
