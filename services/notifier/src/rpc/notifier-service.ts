// The list of this service's RPCs.

import { NotifierService } from '@methods/proto/notifier/v1/notifier_service_pb';
import { type ServedService, served } from '@methods/rpc/server';
import { inTime } from './in-time.ts';
import { getDeliveryRpc, listDeliveriesRpc } from './list-deliveries.ts';
import { type ResendDeliveryParts, resendDeliveriesRpc, resendDeliveryRpc } from './resend-delivery.ts';

export interface NotifierServiceParts extends ResendDeliveryParts {
  readonly sendsMail: boolean;
}

export function notifierService(parts: NotifierServiceParts): ServedService {
  return served(NotifierService, {
    listDeliveries: (request) => inTime(listDeliveriesRpc(parts.reader, request)),
    getDelivery: (request) => inTime(getDeliveryRpc(parts.reader, request)),
    resendDelivery: (request) => inTime(resendDeliveryRpc(parts, request)),
    resendDeliveries: (request) => inTime(resendDeliveriesRpc(parts, request)),
    getMailStatus: async () => ({ sendsMail: parts.sendsMail }),
  });
}
