// How long an organization keeps its finished runs, asked of the method registry.
import { ServiceError } from '@methods/errors/service-error';
import type { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import type { Client } from '@methods/rpc/client';

/** Null for an organization the registry does not have. @throws ServiceError when it cannot be asked. */
export async function askRetentionDays(
  accounts: Client<typeof AccountService>,
  orgId: string,
  timeoutMs: number,
): Promise<number | null> {
  try {
    const { settings } = await accounts.getSettings({ orgId }, { timeoutMs });
    return settings?.retentionDays ?? null;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') return null;
    throw error;
  }
}
