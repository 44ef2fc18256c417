// The list of the registry's RPCs, and which file answers each.
import type { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import { inject, injectable } from 'tsyringe';
import { CreateMethod } from './create-method.ts';
import { EnsureOrganization } from './ensure-organization.ts';
import { GetMethod } from './get-method.ts';
import { GetVersion } from './get-version.ts';
import { GetWebhookSecret } from './get-webhook-secret.ts';
import { PublishVersion } from './publish-version.ts';
import { PutLock } from './put-lock.ts';
import { ResolveServiceKey } from './resolve-service-key.ts';
import { SaveVersion } from './save-version.ts';
import { ServiceKeys } from './service-keys.ts';

@injectable()
export class MethodRegistryRpcs {
  constructor(
    @inject(EnsureOrganization) private readonly ensureOrganization: EnsureOrganization,
    @inject(ServiceKeys) private readonly serviceKeys: ServiceKeys,
    @inject(ResolveServiceKey) private readonly resolveServiceKey: ResolveServiceKey,
    @inject(GetWebhookSecret) private readonly getWebhookSecret: GetWebhookSecret,
    @inject(CreateMethod) private readonly createMethod: CreateMethod,
    @inject(SaveVersion) private readonly saveVersion: SaveVersion,
    @inject(PublishVersion) private readonly publishVersion: PublishVersion,
    @inject(GetMethod) private readonly getMethod: GetMethod,
    @inject(GetVersion) private readonly getVersion: GetVersion,
    @inject(PutLock) private readonly putLock: PutLock,
  ) {}

  handlers(): ServiceImplementation<typeof MethodRegistryService> {
    return {
      ensureOrganization: (request) => this.ensureOrganization.handle(request),
      createServiceKey: (request) => this.serviceKeys.create(request),
      listServiceKeys: (request) => this.serviceKeys.list(request),
      revokeServiceKey: (request) => this.serviceKeys.revoke(request),
      resolveServiceKey: (request) => this.resolveServiceKey.handle(request),
      getWebhookSecret: (request) => this.getWebhookSecret.handle(request),
      createMethod: (request) => this.createMethod.handle(request),
      saveVersion: (request) => this.saveVersion.handle(request),
      publishVersion: (request) => this.publishVersion.handle(request),
      getMethod: (request) => this.getMethod.handle(request),
      getVersion: (request) => this.getVersion.handle(request),
      putLock: (request) => this.putLock.handle(request),
    };
  }
}
