// EnsureOrganization: the organization of (issuer, external id), made at first sight.
import type { EnsureOrganizationRequest } from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { externalOrganization } from '../organization/organization.ts';
import { OrganizationStore } from '../store/organization-store.ts';

@injectable()
export class EnsureOrganization {
  constructor(@inject(OrganizationStore) private readonly organizations: OrganizationStore) {}

  async handle({ issuer, externalId, name }: EnsureOrganizationRequest) {
    return await this.organizations.ensure(externalOrganization(issuer, externalId, name));
  }
}
