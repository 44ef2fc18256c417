// The list of the registry's RPCs, and which file answers each.
import type { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import { inject, injectable } from 'tsyringe';
import { CreateMethod } from './create-method.ts';
import { EnsureOrganization } from './ensure-organization.ts';
import { FindCreation } from './find-creation.ts';
import { FindMethods } from './find-methods.ts';
import { GetMethod } from './get-method.ts';
import { GetVersion } from './get-version.ts';
import { GetWebhookSecret } from './get-webhook-secret.ts';
import { ListMethods } from './list-methods.ts';
import { ListVersions } from './list-versions.ts';
import { KeyUseNotes } from './note-key-use.ts';
import { PublishVersion } from './publish-version.ts';
import { PutLock } from './put-lock.ts';
import { ResolveServiceKey } from './resolve-service-key.ts';
import { RetryBuild } from './retry-build.ts';
import { SaveVersion } from './save-version.ts';
import { ServiceKeys } from './service-keys.ts';
import { UpdateMethod } from './update-method.ts';
import { ValidateSource } from './validate-source.ts';

@injectable()
export class MethodRegistryRpcs {
  constructor(
    @inject(EnsureOrganization) private readonly ensureOrganization: EnsureOrganization,
    @inject(ServiceKeys) private readonly serviceKeys: ServiceKeys,
    @inject(KeyUseNotes) private readonly keyUse: KeyUseNotes,
    @inject(ResolveServiceKey) private readonly resolveServiceKey: ResolveServiceKey,
    @inject(GetWebhookSecret) private readonly getWebhookSecret: GetWebhookSecret,
    @inject(CreateMethod) private readonly createMethod: CreateMethod,
    @inject(SaveVersion) private readonly saveVersion: SaveVersion,
    @inject(PublishVersion) private readonly publishVersion: PublishVersion,
    @inject(GetMethod) private readonly getMethod: GetMethod,
    @inject(FindMethods) private readonly findMethods: FindMethods,
    @inject(FindCreation) private readonly findCreation: FindCreation,
    @inject(ListMethods) private readonly listMethods: ListMethods,
    @inject(ListVersions) private readonly listVersions: ListVersions,
    @inject(RetryBuild) private readonly retryBuild: RetryBuild,
    @inject(UpdateMethod) private readonly updateMethod: UpdateMethod,
    @inject(ValidateSource) private readonly validateSource: ValidateSource,
    @inject(GetVersion) private readonly getVersion: GetVersion,
    @inject(PutLock) private readonly putLock: PutLock,
  ) {}

  handlers(): ServiceImplementation<typeof MethodRegistryService> {
    return {
      ensureOrganization: (request) => this.ensureOrganization.handle(request),
      createServiceKey: (request) => this.serviceKeys.create(request),
      listServiceKeys: (request) => this.serviceKeys.list(request),
      revokeServiceKey: (request) => this.serviceKeys.revoke(request),
      renewWebhookSecret: (request) => this.serviceKeys.renewWebhookSecret(request),
      noteKeyUse: (request) => this.keyUse.note(request),
      resolveServiceKey: (request) => this.resolveServiceKey.handle(request),
      getWebhookSecret: (request) => this.getWebhookSecret.handle(request),
      createMethod: (request, context) => this.createMethod.handle(request, context),
      saveVersion: (request, context) => this.saveVersion.handle(request, context),
      publishVersion: (request) => this.publishVersion.handle(request),
      getMethod: (request) => this.getMethod.handle(request),
      findMethods: (request) => this.findMethods.handle(request),
      findCreation: (request) => this.findCreation.handle(request),
      listMethods: (request) => this.listMethods.handle(request),
      listVersions: (request) => this.listVersions.handle(request),
      retryBuild: (request) => this.retryBuild.handle(request),
      updateMethod: (request) => this.updateMethod.handle(request),
      validateSource: (request, context) => this.validateSource.handle(request, context),
      getVersion: (request) => this.getVersion.handle(request),
      putLock: (request) => this.putLock.handle(request),
    };
  }
}
