// What the registry knows of a delivery's method and organization that its stored body does not say.
import type { MethodId, OrgId } from '@methods/base/ids';
import type { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import type { Client } from '@methods/rpc/client';
import type { ClaimedDelivery } from '../delivery/delivery.ts';

export interface ChatContext {
  /** Empty: there is no such method. */
  readonly methodName: string;
  /** IANA name. */
  readonly timeZone: string;
  /** The organization's content is end to end encrypted: a chat gets none of it. */
  readonly contentOnDevices: boolean;
}

/** Names no address and no role, so the registry looks up no one. */
const NO_ONE = ['-'];

export async function askChatContext(
  accounts: Pick<Client<typeof AccountService>, 'listRecipients'>,
  orgId: OrgId,
  methodId: MethodId,
  timeoutMs: number,
): Promise<ChatContext> {
  return accounts.listRecipients({ orgId, methodId, to: NO_ONE }, { timeoutMs });
}

export function methodOf({ body }: Pick<ClaimedDelivery, 'body'>): MethodId {
  return (JSON.parse(body.toString('utf8')) as { readonly method: MethodId }).method;
}
