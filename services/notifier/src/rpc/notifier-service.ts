// The list of this service's RPCs.

import { withDeadline } from '@methods/postgres/deadline';
import { storageFault } from '@methods/postgres/storage-fault';
import { NotifierService } from '@methods/proto/notifier/v1/notifier_service_pb';
import { type ServedService, served } from '@methods/rpc/server';
import { listDeliveriesRpc } from './list-deliveries.ts';
import { type ResendDeliveryParts, resendDeliveryRpc } from './resend-delivery.ts';

const CALL_DEADLINE_MS = 5_000;

export function notifierService(parts: ResendDeliveryParts): ServedService {
  return served(NotifierService, {
    listDeliveries: (request) => stored(listDeliveriesRpc(parts.reader, request)),
    resendDelivery: (request) => stored(resendDeliveryRpc(parts, request)),
  });
}

/** Without Postgres the caller gets `unavailable`, and in time. */
async function stored<Reply>(reply: Promise<Reply>): Promise<Reply> {
  try {
    return await withDeadline(reply, CALL_DEADLINE_MS);
  } catch (error) {
    throw storageFault(error);
  }
}
