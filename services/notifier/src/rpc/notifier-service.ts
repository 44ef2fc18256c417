// The list of this service's RPCs.
import type { OrganizationReader } from '@methods/postgres/organization-reader';
import type { Sql } from '@methods/postgres/pool';
import { NotifierService } from '@methods/proto/notifier/v1/notifier_service_pb';
import { type ServedService, served } from '@methods/rpc/server';
import { listDeliveriesRpc } from './list-deliveries.ts';
import { resendDeliveryRpc } from './resend-delivery.ts';

export interface NotifierServiceParts {
  readonly sql: Sql;
  readonly reader: OrganizationReader;
  /** Called when there is something to send. */
  readonly onDue: () => void;
}

export function notifierService(parts: NotifierServiceParts): ServedService {
  return served(NotifierService, {
    listDeliveries: (request) => listDeliveriesRpc(parts.reader, request),
    resendDelivery: (request) => resendDeliveryRpc(parts, request),
  });
}
