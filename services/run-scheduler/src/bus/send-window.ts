// Bounds the events of the outbox's sweeps that are sent and not yet confirmed: as many as the notifier confirms within
// moments. Further ones wait in their rows. So a backlog is sent about once, new events do not queue behind it on the
// bus, and no organization's events take the places of all.
import type { OrgId } from '@methods/base/ids';
import { UnconfirmedEvents } from './unconfirmed-events.ts';

const EVENTS_MAX = 2_000;
const ORG_EVENTS_MAX = 500;
/** New events that had to wait for an earlier one go before a backlog: for them there is this much extra room. */
const RESERVE = 2_000;
const ORG_RESERVE = 500;

export class SendWindow extends UnconfirmedEvents {
  /** Free places for due events. */
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
