// The runs that this node's workers hold: every grant delivered through it, with the worker's last sign of life. New
// owners of a shard request it at a take-over; from then on grants of the shard's earlier epochs are dropped.

import type { Clock } from '@methods/base/clock';
import type { OrgId, RunId } from '@methods/base/ids';

export interface HeldGrant {
  readonly runId: RunId;
  readonly shard: number;
  readonly token: string;
  readonly orgId: OrgId;
  /** Of a run in device mode; absent: it is not, or its worker brought the run. */
  readonly deviceKeyId?: string;
  session: string;
  heardAtMs: number;
  accepted: boolean;
  /** The worker was asked to stop this run: its next heartbeat goes to the owner at once. */
  cancelTold: boolean;
}

export class HeldGrants {
  private readonly byToken = new Map<string, HeldGrant>();
  private readonly lowestEpoch = new Map<number, number>();

  constructor(private readonly clock: Clock) {}

  /** Returns false if the grant comes from a former owner. */
  admits(shard: number, epoch: number): boolean {
    return epoch >= (this.lowestEpoch.get(shard) ?? 0);
  }

  barrier(shard: number, epoch: number): void {
    this.lowestEpoch.set(shard, Math.max(epoch, this.lowestEpoch.get(shard) ?? 0));
  }

  add(grant: Omit<HeldGrant, 'heardAtMs' | 'accepted' | 'cancelTold'>, accepted = false): void {
    this.byToken.set(grant.token, {
      heardAtMs: this.clock.monotonicMs(),
      accepted,
      cancelTold: false,
      ...grant,
    });
  }

  get(token: string): HeldGrant | undefined {
    return this.byToken.get(token);
  }

  /** The worker has sent a message about this run. */
  heard(token: string): void {
    const held = this.byToken.get(token);
    if (held === undefined) return;
    held.heardAtMs = this.clock.monotonicMs();
    held.accepted = true;
  }

  remove(token: string): void {
    this.byToken.delete(token);
  }

  ageMs(held: HeldGrant): number {
    return Math.max(0, Math.round(this.clock.monotonicMs() - held.heardAtMs));
  }

  all(): Iterable<HeldGrant> {
    return this.byToken.values();
  }

  get size(): number {
    return this.byToken.size;
  }

  /** Removes grants without a sign of life for `beyondMs`: their leases have long ended everywhere. */
  forgetSilent(beyondMs: number): void {
    for (const held of [...this.byToken.values()]) if (this.ageMs(held) > beyondMs) this.byToken.delete(held.token);
  }
}
