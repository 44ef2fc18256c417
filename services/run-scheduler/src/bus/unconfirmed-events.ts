// Events that the bus has and the notifier has not confirmed, by organization. They bound what is sent with commits and
// by sweeps of the outbox. An event that is not confirmed in time counts as lost.
import type { OrgId } from '@methods/base/ids';

class UnconfirmedEvents {
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

  /** Returns false if it was not there. */
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

const ORG_DIRECT_MAX = 500;
const DIRECT_MAX = 10_000;
/**
 * Longer than a row waits for its confirmation: then it is sent again and confirmed, unless the notifier is
 * unavailable.
 */
const LOST_AFTER_MS = 30_000;

/**
 * Bounds the events of an organization that are sent with their commit and not yet confirmed. The notifier takes events
 * in the order of their arrival, so further ones wait in their rows, and the sweeps send each organization's share.
 */
export class DirectShare extends UnconfirmedEvents {
  constructor() {
    super(LOST_AFTER_MS);
  }

  hasRoom(orgId: OrgId): boolean {
    return this.count < DIRECT_MAX && this.countOf(orgId) < ORG_DIRECT_MAX;
  }
}

const EVENTS_MAX = 2_000;
const ORG_EVENTS_MAX = 500;
/** Extra room for new events that had to wait for an earlier one: they precede a backlog. */
const RESERVE = 2_000;
const ORG_RESERVE = 500;

/**
 * Bounds the events of the outbox's sweeps that are sent and not yet confirmed, to as many as the notifier confirms
 * within moments. Further ones wait in their rows. So each event of a backlog is sent about once, new events do not
 * queue behind it on the bus, and no organization takes all places.
 */
export class SendWindow extends UnconfirmedEvents {
  /** Returns the number of free places for due events. */
  room(): number {
    return Math.max(0, EVENTS_MAX - this.count);
  }

  roomForHeldBack(): number {
    return Math.max(0, EVENTS_MAX + RESERVE - this.count);
  }

  roomForHeldBackOf(orgId: OrgId): number {
    return Math.max(0, ORG_EVENTS_MAX + ORG_RESERVE - this.countOf(orgId));
  }

  fullOrgs(): string[] {
    return this.orgsWith(ORG_EVENTS_MAX);
  }
}
