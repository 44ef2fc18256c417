// The leases of the running runs this node owns, measured only by this node's monotonic clock. Messages of a worker
// renew its leases; while the worker's node lives but is unreachable, they are paused.
import type { Clock } from '@methods/base/clock';
import type { RunId } from '@methods/base/ids';

export interface Lease {
  readonly runId: RunId;
  readonly shard: number;
  readonly token: string;
  session: string;
  /** Node of the worker's stream; null after a take-over until a node reports the run. */
  nodeId: string | null;
  renewedAtMs: number;
  grantedAtMs: number;
  accepted: boolean;
  /** Null: no cancel is requested. A sign of life younger than this ends the run. */
  cancelAskedAtMs: number | null;
}

export interface LeaseTableOptions {
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Reports whether the node is alive by membership, but its heartbeats have not arrived for a while. */
  readonly standsStill: (nodeId: string) => boolean;
  readonly expired: (lease: Lease) => void;
  /** Called when no worker has accepted the grant in time. */
  readonly unaccepted: (lease: Lease) => void;
}

const ACCEPT_MS = 10_000;

export class LeaseTable {
  private readonly leases = new Map<string, Lease>();
  /** Runs by worker, for a worker that reconnects on another stream. */
  private readonly byWorker = new Map<string, Set<string>>();
  private sweptAtMs: number;

  constructor(private readonly options: LeaseTableOptions) {
    this.sweptAtMs = options.clock.monotonicMs();
  }

  add(lease: Omit<Lease, 'renewedAtMs' | 'grantedAtMs'> & { readonly ageMs?: number }): void {
    const nowMs = this.options.clock.monotonicMs();
    this.remove(lease.runId);
    this.leases.set(lease.runId, {
      runId: lease.runId,
      shard: lease.shard,
      token: lease.token,
      session: lease.session,
      nodeId: lease.nodeId,
      renewedAtMs: nowMs - (lease.ageMs ?? 0),
      grantedAtMs: nowMs,
      accepted: lease.accepted,
      cancelAskedAtMs: lease.cancelAskedAtMs,
    });
    const worker = workerOf(lease.session);
    const runs = this.byWorker.get(worker);
    if (runs === undefined) this.byWorker.set(worker, new Set([lease.runId]));
    else runs.add(lease.runId);
  }

  /** Returns the lease of this run only if the token matches. */
  get(runId: RunId, token: string): Lease | null {
    const lease = this.leases.get(runId);
    return lease?.token === token ? lease : null;
  }

  has(runId: RunId): boolean {
    return this.leases.has(runId);
  }

  /** The worker sent a message `ageMs` ago, through `nodeId`. A message older than the last one renews nothing. */
  renew(runId: RunId, token: string, nodeId: string, session: string | null, ageMs = 0): boolean {
    const lease = this.get(runId, token);
    if (lease === null) return false;
    lease.accepted = true;
    lease.nodeId = nodeId;
    if (session !== null) lease.session = session;
    lease.renewedAtMs = Math.max(lease.renewedAtMs, this.options.clock.monotonicMs() - ageMs);
    return true;
  }

  ended(runId: RunId, token: string): void {
    if (this.get(runId, token) !== null) this.remove(runId);
  }

  dropShards(shards: ReadonlySet<number>): void {
    for (const lease of [...this.leases.values()]) if (shards.has(lease.shard)) this.remove(lease.runId);
  }

  /** Returns leases granted to earlier streams of this worker, or to this one. */
  ofWorker(session: string): Lease[] {
    const runs = this.byWorker.get(workerOf(session)) ?? [];
    return [...runs].flatMap((runId) => this.leases.get(runId) ?? []);
  }

  /**
   * This node was blocked for `ms`, and messages of its workers from that time are still unread: extends all leases by
   * that time. Called before the sweep that follows.
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
        // When the node is reachable again the lease has its remaining time: by then not all of the node's workers have
        // sent a message.
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

  private remove(runId: RunId): void {
    const lease = this.leases.get(runId);
    if (lease === undefined) return;
    this.leases.delete(runId);
    const worker = workerOf(lease.session);
    const runs = this.byWorker.get(worker);
    runs?.delete(runId);
    if (runs?.size === 0) this.byWorker.delete(worker);
  }
}

/** Never beyond now, which would be more than a whole lease. */
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
