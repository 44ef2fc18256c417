// How many events of an organization, sent with their commit, are with the notifier at one time. It takes events in the
// order they come, so whatever is beyond waits in its rows, and the sweeps send it by shares.
import { UnconfirmedEvents } from './unconfirmed-events.ts';

const ORG_EVENTS_MAX = 500;
const EVENTS_MAX = 10_000;
/** Longer than a row waits for its confirmation: it is sent again then, and confirmed, unless the notifier is away. */
const LOST_AFTER_MS = 30_000;

export class DirectShare extends UnconfirmedEvents {
  constructor() {
    super(LOST_AFTER_MS);
  }

  hasRoom(orgId: string): boolean {
    return this.count < EVENTS_MAX && this.countOf(orgId) < ORG_EVENTS_MAX;
  }
}
