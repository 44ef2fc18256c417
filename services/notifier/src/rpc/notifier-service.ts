// The list of this service's RPCs.

import { NotifierService } from '@methods/proto/notifier/v1/notifier_service_pb';
import { type ServedService, served } from '@methods/rpc/server';
import { inTime } from './in-time.ts';
import { listDeliveriesRpc } from './list-deliveries.ts';
import { type ResendDeliveryParts, resendDeliveryRpc } from './resend-delivery.ts';

export function notifierService(parts: ResendDeliveryParts): ServedService {
  return served(NotifierService, {
    listDeliveries: (request) => inTime(listDeliveriesRpc(parts.reader, request)),
    resendDelivery: (request) => inTime(resendDeliveryRpc(parts, request)),
  });
}
