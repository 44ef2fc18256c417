// Decides the state of a delivery after a try: done, stopped, to be retried after a wait, or given up.
import type { DeliveryStatus, EndStatus } from './delivery.ts';

/** Waits before the redeliveries, in ms. */
export const DEFAULT_RETRY_MS: readonly number[] = [5_000, 30_000, 300_000, 1_800_000, 10_800_000];

/** The waits of mails: they grow over a day, so that a day without the SMTP server loses no mail. */
export const MAIL_RETRY_MS: readonly number[] = [
  30_000, 120_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 28_800_000, 43_200_000,
];

/** The share by which a wait varies, so that the deliveries of one outage are not all retried at once. */
const JITTER = 0.1;

export interface TriedDelivery {
  /** Tries before the one that just ended. */
  readonly tries: number;
  readonly resentFrom: EndStatus | null;
}

export interface AfterTry {
  readonly status: DeliveryStatus;
  /** Until the next try; 0 when there is none. */
  readonly waitMs: number;
}

/**
 * 2xx delivers, 410 stops, anything else (also a redirect, or status 0 for no answer) is a failed try. A delivery that
 * was sent again by hand gets that one try and falls back to its earlier end.
 */
export function afterTry(
  delivery: TriedDelivery,
  httpStatus: number,
  retryMs: readonly number[],
  random: () => number,
): AfterTry {
  if (httpStatus >= 200 && httpStatus <= 299) return ended('delivered');
  if (delivery.resentFrom !== null) return ended(delivery.resentFrom);
  if (httpStatus === 410) return ended('stopped');
  const wait = retryMs[delivery.tries];
  if (wait === undefined) return ended('exhausted');
  return { status: 'pending', waitMs: Math.round(wait * (1 - JITTER + 2 * JITTER * random())) };
}

function ended(status: EndStatus): AfterTry {
  return { status, waitMs: 0 };
}
