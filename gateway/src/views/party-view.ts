// The actor of a change, as people see it.
import type { Party } from '@methods/proto/registry/v1/account_pb';

export interface PartyView {
  /** user, service_key, upload or system. */
  readonly kind: string;
  readonly id: string;
  /** Empty where it is no longer known. */
  readonly name: string;
}

/** Null: no actor. */
export function partyView(party: Party | undefined): PartyView | null {
  return party === undefined ? null : { kind: party.kind, id: party.id, name: party.name };
}

/** Milliseconds since the epoch as RFC 3339 UTC; 0 is an unknown time, null. */
export function timeView(epochMs: number): string | null {
  return epochMs > 0 ? new Date(epochMs).toISOString() : null;
}
