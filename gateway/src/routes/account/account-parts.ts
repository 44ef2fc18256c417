// The parts that the routes of accounts share.
import type { OrganizationSettings } from '../../clients/organization-settings.ts';
import type { RegistryCalls } from '../../clients/registry-calls.ts';

export interface AccountRouteParts {
  readonly registryCalls: RegistryCalls;
  readonly settings: OrganizationSettings;
}

/** A route's own entry in the description of the API. */
export function described(operationId: string, summary: string) {
  return { operationId, summary, tags: ['organization'] };
}
