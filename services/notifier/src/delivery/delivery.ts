// A delivery: one event of one run on its way to one URL, and the outcome of each try.
import type { DeliveryId, EndpointId, KeyId, OrgId, RunId } from '@methods/base/ids';

/** pending ends in one of the others: a 2xx, no try left, or a 410, also where its endpoint is gone or paused. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'exhausted', 'stopped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
export type EndStatus = Exclude<DeliveryStatus, 'pending'>;

/** To the URL of a run, to an organization's endpoint or its chat, or to people by e-mail. */
export const DELIVERY_KINDS = ['webhook', 'endpoint', 'slack', 'teams', 'mail'] as const;
export type DeliveryKind = (typeof DELIVERY_KINDS)[number];

/**
 * Tries that a mail's row begins with: first tries of one target go out in the order of a run, and neither a mail nor a
 * webhook waits for another's.
 */
export const MAIL_TRIES_BEFORE = 1;

/** Tries that were made. */
export function triesOf({ kind, tries }: { readonly kind: DeliveryKind; readonly tries: number }): number {
  return kind === 'mail' ? tries - MAIL_TRIES_BEFORE : tries;
}

/** A new delivery of an event; `body` is sent byte for byte at every try, or is what a chat's message is made of. */
export interface PlannedDelivery {
  readonly orgId: OrgId;
  readonly deliveryId: DeliveryId;
  readonly runId: RunId;
  readonly seq: number;
  /** Empty for an endpoint, which is asked for it at each try. */
  readonly url: string;
  /** Empty: to the run's own URL. */
  readonly endpointId: EndpointId | '';
  readonly kind: DeliveryKind;
  /** Name or address in the URL; the bound on sends to one host counts by it. Empty when the URL cannot be read. */
  readonly host: string;
  readonly event: string;
  readonly keyId: KeyId | '';
  readonly body: Buffer;
  readonly createdAtMs: number;
  /** Absent: due at once. */
  readonly dueInMs?: number;
}

/** A delivery that only this node may try until its claim lapses. */
export interface ClaimedDelivery extends Omit<PlannedDelivery, 'createdAtMs' | 'dueInMs'> {
  /** Random, new at each claim; a result is kept only under the claim it was made with. */
  readonly claim: string;
  /** Tries before this one, as `triesOf` counts them. */
  readonly tries: number;
  /** Set when an ended delivery is sent again by hand: the state it falls back to when that fails. */
  readonly resentFrom: EndStatus | null;
}

export interface DeliveryTry {
  readonly startedAtMs: number;
  readonly durationMs: number;
  /** 0: no answer came; then `error` says why. */
  readonly httpStatus: number;
  readonly error: string;
  /** The answer's first KiB. */
  readonly answerStart: string;
}

/** A delivery as operators see it. */
export interface DeliveryRecord {
  readonly deliveryId: DeliveryId;
  readonly runId: RunId;
  readonly seq: number;
  readonly url: string;
  readonly endpointId: EndpointId | '';
  readonly kind: DeliveryKind;
  readonly event: string;
  readonly status: DeliveryStatus;
  readonly createdAtMs: number;
  /** 0 once it ended. */
  readonly nextTryAtMs: number;
  /** Also those that are not listed. */
  readonly triesCount: number;
  /** Newest last. */
  readonly tries: readonly DeliveryTry[];
}
