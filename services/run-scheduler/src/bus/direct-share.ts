// Bounds the events of an organization that are sent with their commit and not yet confirmed. The notifier takes events
// in the order they come, so further ones wait in their rows, and the sweeps send them by shares.
import type { OrgId } from '@methods/base/ids';
import { UnconfirmedEvents } from './unconfirmed-events.ts';

const ORG_EVENTS_MAX = 500;
const EVENTS_MAX = 10_000;
/**
 * Longer than a row waits for its confirmation: it is sent again then, and confirmed, unless the notifier is
 * unavailable.
 */
const LOST_AFTER_MS = 30_000;

export class DirectShare extends UnconfirmedEvents {
  constructor() {
    super(LOST_AFTER_MS);
  }

  hasRoom(orgId: OrgId): boolean {
    return this.count < EVENTS_MAX && this.countOf(orgId) < ORG_EVENTS_MAX;
  }
}
