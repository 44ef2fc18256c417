// The list of this service's RPCs.
import type { Sql } from '@methods/postgres/pool';
import { NotifierService } from '@methods/proto/notifier/v1/notifier_service_pb';
import { type ServedService, served } from '@methods/rpc/server';
import { listDeliveriesRpc } from './list-deliveries.ts';
import { resendDeliveryRpc } from './resend-delivery.ts';

export function notifierService(sql: Sql, onDue: () => void): ServedService {
  return served(NotifierService, {
    listDeliveries: (request) => listDeliveriesRpc(sql, request),
    resendDelivery: (request) => resendDeliveryRpc(sql, onDue, request),
  });
}
