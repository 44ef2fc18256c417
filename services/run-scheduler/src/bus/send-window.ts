// How many events of the outbox's sweeps are with the notifier at one time: as many as it confirms within moments. What
// is beyond waits in its rows. So a backlog is sent about once, new events do not queue behind it on the bus, and no
// organization's events take the places of all.
const EVENTS_MAX = 2_000;
const ORG_EVENTS_MAX = 500;
/** New events that had to wait for an earlier one go before a backlog: for them there is so much room beyond. */
const RESERVE = 2_000;
const ORG_RESERVE = 500;

export class SendWindow {
  /** By outbox id, oldest first. */
  private readonly open = new Map<string, { readonly orgId: string; readonly untilMs: number }>();
  private readonly ofOrg = new Map<string, number>();

  /** `forMs`: after this an event counts as lost, and its place is free. */
  constructor(private readonly forMs: number) {}

  sent(outboxId: string, orgId: string, nowMs: number): void {
    this.ended(outboxId);
    this.open.set(outboxId, { orgId, untilMs: nowMs + this.forMs });
    this.ofOrg.set(orgId, (this.ofOrg.get(orgId) ?? 0) + 1);
  }

  /** False: it was not there. */
  ended(outboxId: string): boolean {
    const event = this.open.get(outboxId);
    if (event === undefined) return false;
    this.open.delete(outboxId);
    const left = (this.ofOrg.get(event.orgId) ?? 1) - 1;
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

  /** Places that are free for what is due. */
  room(): number {
    return Math.max(0, EVENTS_MAX - this.open.size);
  }

  roomForHeldBack(): number {
    return Math.max(0, EVENTS_MAX + RESERVE - this.open.size);
  }

  roomForHeldBackOf(orgId: string): number {
    return Math.max(0, ORG_EVENTS_MAX + ORG_RESERVE - (this.ofOrg.get(orgId) ?? 0));
  }

  fullOrgs(): string[] {
    return [...this.ofOrg].filter(([, count]) => count >= ORG_EVENTS_MAX).map(([orgId]) => orgId);
  }
}
