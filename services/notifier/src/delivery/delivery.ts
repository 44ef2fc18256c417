// A delivery: one event of one run on its way to one URL, and the outcome of each try.
import type { DeliveryId, EndpointId, KeyId, OrgId, RunId } from '@methods/base/ids';

/**
 * pending ends in one of the others: after a 2xx, without a try left, or after a 410 or when the endpoint is gone or
 * paused.
 */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'exhausted', 'stopped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
export type EndStatus = Exclude<DeliveryStatus, 'pending'>;

/** To the URL of a run, to an organization's endpoint or its chat, or to people by e-mail. */
export const DELIVERY_KINDS = ['webhook', 'endpoint', 'slack', 'teams', 'mail'] as const;
export type DeliveryKind = (typeof DELIVERY_KINDS)[number];

/**
 * The count of tries in a new mail's row. First tries to one target follow the order of a run, and neither mails nor
 * webhooks wait for each other's.
 */
export const MAIL_TRIES_BEFORE = 1;

/** Returns the number of tries made. */
export function triesOf({ kind, tries }: { readonly kind: DeliveryKind; readonly tries: number }): number {
  return kind === 'mail' ? tries - MAIL_TRIES_BEFORE : tries;
}

/** A new delivery of an event. Every try sends `body` byte for byte, or builds a chat's message from it. */
export interface PlannedDelivery {
  readonly orgId: OrgId;
  readonly deliveryId: DeliveryId;
  readonly runId: RunId;
  readonly seq: number;
  /** Empty for an endpoint, whose URL is requested at each try. */
  readonly url: string;
  /** Empty: the delivery goes to the run's own URL. */
  readonly endpointId: EndpointId | '';
  readonly kind: DeliveryKind;
  /** The name or address in the URL, by which sends to one host are bounded. Empty when the URL cannot be parsed. */
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
  /** Random and new for each claim; a result is stored only under the claim of its try. */
  readonly claim: string;
  /** Tries before this one, as `triesOf` counts them. */
  readonly tries: number;
  /** Set when an ended delivery is sent again by hand: the state to restore if that fails. */
  readonly resentFrom: EndStatus | null;
}

export interface DeliveryTry {
  readonly startedAtMs: number;
  readonly durationMs: number;
  /** 0: no answer arrived; `error` says why. */
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
  /** Counts also the tries that are not listed. */
  readonly triesCount: number;
  /** Newest last. */
  readonly tries: readonly DeliveryTry[];
}
