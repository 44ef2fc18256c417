// The store of organizations.
import type { OrgId } from '@methods/base/ids';
import type { InjectionToken } from 'tsyringe';
import type { ExternalOrganization } from '../organization/organization.ts';

export interface OrganizationStore {
  /** The organization of (issuer, external id), made when there is none. A known one keeps its first name. */
  ensure(organization: ExternalOrganization): Promise<{ readonly orgId: OrgId; readonly created: boolean }>;
}
export const OrganizationStore: InjectionToken<OrganizationStore> = Symbol('OrganizationStore');
