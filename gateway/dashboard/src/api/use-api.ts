// The API of the organization in the page's address.
import { createContext, use } from 'react';
import { type Api, apiOf } from './client.ts';

interface OrganizationApi {
  readonly org: string;
  readonly api: Api;
}

export const ApiContext = createContext<OrganizationApi | null>(null);

const clients = new Map<string, OrganizationApi>();

export function organizationApi(org: string): OrganizationApi {
  const known = clients.get(org) ?? { org, api: apiOf(org) };
  clients.set(org, known);
  return known;
}

/** `org` begins every query key, so that nothing of one organization is shown in another. */
export function useApi(): OrganizationApi {
  const found = use(ApiContext);
  if (found === null) throw new Error('useApi outside of an organization');
  return found;
}
