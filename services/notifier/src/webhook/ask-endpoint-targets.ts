// Asks the registry for an organization's endpoints.
import type { OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { EndpointService } from '@methods/proto/registry/v1/endpoint_service_pb';
import type { Client } from '@methods/rpc/client';
import { isUnknownCall } from '@methods/rpc/unknown-call';
import type { EndpointFormat, EndpointTarget } from '../delivery/endpoint-target.ts';

const FORMATS: readonly EndpointFormat[] = ['webhook', 'slack', 'teams'];

/** None in an organization that is not there, and none with a registry of the release before. */
export async function askEndpointTargets(
  calls: Pick<Client<typeof EndpointService>, 'getEndpointTargets'>,
  orgId: OrgId,
  timeoutMs: number,
): Promise<readonly EndpointTarget[]> {
  try {
    const { targets } = await calls.getEndpointTargets({ orgId }, { timeoutMs });
    return targets.flatMap((target) => {
      const format = FORMATS.find((known) => known === target.format);
      return format === undefined ? [] : [{ ...target, format }];
    });
  } catch (error) {
    if (error instanceof ServiceError && (error.code === 'not_found' || isUnknownCall(error))) return [];
    throw error;
  }
}
