// Events the bus has and the notifier has not confirmed, by organization. One that is not confirmed in time counts as
// lost.
import type { OrgId } from '@methods/base/ids';

export class UnconfirmedEvents {
  /** By outbox id, oldest first. */
  private readonly open = new Map<string, { readonly orgId: OrgId; readonly untilMs: number }>();
  private readonly ofOrg = new Map<string, number>();

  constructor(private readonly forMs: number) {}

  get count(): number {
    return this.open.size;
  }

  countOf(orgId: OrgId): number {
    return this.ofOrg.get(orgId) ?? 0;
  }

  orgsWith(count: number): string[] {
    return [...this.ofOrg].filter(([, of]) => of >= count).map(([orgId]) => orgId);
  }

  sent(outboxId: string, orgId: OrgId, nowMs: number): void {
    this.ended(outboxId);
    this.open.set(outboxId, { orgId, untilMs: nowMs + this.forMs });
    this.ofOrg.set(orgId, this.countOf(orgId) + 1);
  }

  /** False: it was not there. */
  ended(outboxId: string): boolean {
    const event = this.open.get(outboxId);
    if (event === undefined) return false;
    this.open.delete(outboxId);
    const left = this.countOf(event.orgId) - 1;
    if (left > 0) this.ofOrg.set(event.orgId, left);
    else this.ofOrg.delete(event.orgId);
    return true;
  }

  forgetLost(nowMs: number): void {
    for (const [outboxId, { untilMs }] of this.open) {
      if (untilMs > nowMs) return;
      this.ended(outboxId);
    }
  }
}
