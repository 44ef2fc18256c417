// Plans the delivery of an event with a webhook.
import type { DeliveryId } from '@methods/base/ids';
import { HOST_LENGTH_MAX } from '@methods/webhook-url/check-webhook-url';
import type { PlannedDelivery } from './delivery.ts';
import type { RunEvent } from './run-event.ts';
import { webhookBody } from './webhook-body.ts';

/** `deliveryId` is new; when the same event was stored before, the stored row and its id stay. */
export function planDelivery(event: RunEvent, deliveryId: DeliveryId): PlannedDelivery {
  return {
    orgId: event.orgId,
    deliveryId,
    runId: event.runId,
    seq: event.seq,
    url: event.webhookUrl,
    host: hostOf(event.webhookUrl),
    event: event.change.event,
    keyId: event.keyId,
    body: webhookBody(event, deliveryId),
    createdAtMs: event.createdAtMs,
  };
}

/**
 * A URL that cannot be parsed, or whose host is too long for the index, is stored anyway: its tries fail where the
 * operator can see it.
 */
function hostOf(url: string): string {
  try {
    const { hostname } = new URL(url);
    return hostname.length > HOST_LENGTH_MAX ? '' : hostname;
  } catch {
    return '';
  }
}
