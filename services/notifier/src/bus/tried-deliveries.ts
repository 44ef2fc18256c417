// Reports recorded tries to gateways, so that pages of an organization's deliveries are up to date. They are lost
// without NATS and without a following gateway: the rows are the truth.
import type { OrgId } from '@methods/base/ids';
import { deliveryTried } from '@methods/bus/subjects';
import { DeliveriesTriedSchema } from '@methods/proto/event/v1/event_pb';
import { encoder } from '@methods/rpc/message-codec';
import type { TryRecord } from '../store/record-tries.ts';

/** In one message. */
const DELIVERIES_MAX = 256;

const encode = encoder(DeliveriesTriedSchema);

/** `recorded`: those whose result was stored; a delivery for which nothing was sent is omitted. */
export function publishTries(
  recorded: readonly TryRecord[],
  publish: (subject: string, bytes: Uint8Array) => boolean,
): void {
  const byOrganization = new Map<OrgId, TryRecord[]>();
  for (const one of recorded) {
    if (one.result === null) continue;
    const others = byOrganization.get(one.delivery.orgId);
    if (others === undefined) byOrganization.set(one.delivery.orgId, [one]);
    else others.push(one);
  }
  for (const [orgId, records] of byOrganization) {
    for (let i = 0; i < records.length; i += DELIVERIES_MAX) {
      publish(deliveryTried(orgId), encode(message(orgId, records.slice(i, i + DELIVERIES_MAX))));
    }
  }
}

function message(orgId: OrgId, records: readonly TryRecord[]) {
  const deliveries = records.map(({ delivery, after, result }) => ({
    deliveryId: delivery.deliveryId,
    runId: delivery.runId,
    event: delivery.event,
    kind: delivery.kind,
    endpointId: delivery.endpointId,
    status: after.status,
    httpStatus: result?.httpStatus ?? 0,
  }));
  return { orgId, deliveries };
}
