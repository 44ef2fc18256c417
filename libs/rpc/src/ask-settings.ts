// An organization's settings, as services get them from the method registry.
import type { OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Settings } from '@methods/proto/registry/v1/account_pb';
import type { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import type { Client } from './client.ts';

/** Null for an organization the registry does not have. @throws ServiceError when it cannot be asked. */
export async function askSettings(
  accounts: Pick<Client<typeof AccountService>, 'getSettings'>,
  orgId: OrgId,
  timeoutMs: number,
): Promise<Settings | null> {
  try {
    return (await accounts.getSettings({ orgId }, { timeoutMs })).settings ?? null;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') return null;
    throw error;
  }
}
