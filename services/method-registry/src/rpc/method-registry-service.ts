// The list of the registry's RPCs, and the class that answers each.
import type {
  EnsureOrganizationRequest,
  MethodRegistryService,
} from '@methods/proto/registry/v1/method_registry_service_pb';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import { inject, injectable } from 'tsyringe';
import { externalOrganization } from '../account/organization.ts';
import { OrganizationStore } from '../store/organization-store.ts';
import { CreateMethod, FindCreation, Methods } from './methods.ts';
import { Offers } from './offers.ts';
import { ServiceKeys } from './service-keys.ts';
import { Versions } from './versions.ts';

/** EnsureOrganization returns the organization of an issuer and external id, and creates it on first use. */
@injectable()
class EnsureOrganization {
  constructor(@inject(OrganizationStore) private readonly organizations: OrganizationStore) {}

  async handle({ issuer, externalId, name }: EnsureOrganizationRequest) {
    return await this.organizations.ensure(externalOrganization(issuer, externalId, name));
  }
}

@injectable()
export class MethodRegistryRpcs {
  constructor(
    @inject(EnsureOrganization) private readonly ensureOrganization: EnsureOrganization,
    @inject(ServiceKeys) private readonly serviceKeys: ServiceKeys,
    @inject(CreateMethod) private readonly createMethod: CreateMethod,
    @inject(Methods) private readonly methods: Methods,
    @inject(Offers) private readonly offers: Offers,
    @inject(Versions) private readonly versions: Versions,
    @inject(FindCreation) private readonly findCreation: FindCreation,
  ) {}

  handlers(): ServiceImplementation<typeof MethodRegistryService> {
    return {
      ensureOrganization: (request) => this.ensureOrganization.handle(request),
      createServiceKey: (request) => this.serviceKeys.create(request),
      listServiceKeys: (request) => this.serviceKeys.list(request),
      revokeServiceKey: (request) => this.serviceKeys.revoke(request),
      renewWebhookSecret: (request) => this.serviceKeys.renewWebhookSecret(request),
      noteKeyUse: (request) => this.serviceKeys.noteUse(request),
      resolveServiceKey: (request) => this.serviceKeys.resolve(request),
      grantContent: (request) => this.serviceKeys.grantContent(request),
      getWebhookSecret: (request) => this.serviceKeys.webhookSecret(request),
      createMethod: (request, context) => this.createMethod.handle(request, context),
      saveVersion: (request, context) => this.versions.save(request, context),
      publishVersion: (request) => this.methods.publish(request),
      getMethod: (request) => this.methods.get(request),
      findMethods: (request) => this.methods.find(request),
      findCreation: (request) => this.findCreation.handle(request),
      listMethods: (request) => this.methods.list(request),
      listVersions: (request) => this.versions.list(request),
      retryBuild: (request) => this.methods.retryBuild(request),
      updateMethod: (request) => this.methods.update(request),
      offerMethod: (request) => this.offers.offer(request),
      listOfferedMethods: (request, context) => this.offers.list(request, context),
      validateSource: (request, context) => this.versions.validate(request, context),
      getVersion: (request) => this.versions.get(request),
      putLock: (request) => this.versions.putLock(request),
    };
  }
}
