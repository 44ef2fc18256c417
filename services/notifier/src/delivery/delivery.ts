// A delivery: one event of one run on its way to one URL, and the outcome of each try.
import type { DeliveryId, KeyId, OrgId, RunId } from '@methods/base/ids';

/** pending ends in one of the others: a 2xx, a 410, or no try left. */
export type DeliveryStatus = 'pending' | EndStatus;
export type EndStatus = 'delivered' | 'exhausted' | 'stopped';

/** A new delivery of an event; `body` is sent byte for byte at every try. */
export interface PlannedDelivery {
  readonly orgId: OrgId;
  readonly deliveryId: DeliveryId;
  readonly runId: RunId;
  readonly seq: number;
  readonly url: string;
  /** Name or address in the URL; the bound on sends to one host counts by it. Empty when the URL cannot be read. */
  readonly host: string;
  readonly event: string;
  readonly keyId: KeyId | '';
  readonly body: Buffer;
  readonly createdAtMs: number;
}

/** A delivery that only this node may try until its claim lapses. */
export interface ClaimedDelivery extends Omit<PlannedDelivery, 'createdAtMs'> {
  /** Random, new at each claim; a result is kept only under the claim it was made with. */
  readonly claim: string;
  /** Tries before this one. */
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
  readonly event: string;
  readonly status: DeliveryStatus;
  readonly createdAtMs: number;
  /** 0 once it ended. */
  readonly nextTryAtMs: number;
  /** Newest last. */
  readonly tries: readonly DeliveryTry[];
}
