// PublishVersion: sets the version of runs that name none.
import type { PublishVersionRequest } from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { RegistryChanges } from '../bus/registry-changes.ts';
import { MethodStore } from '../store/method-store.ts';
import { methodMessage } from './registry-message.ts';
import { doerOf } from './request-doer.ts';
import { methodIdOf, orgIdOf, versionIdOf } from './request-ids.ts';

@injectable()
export class PublishVersion {
  constructor(
    @inject(MethodStore) private readonly methods: MethodStore,
    @inject(RegistryChanges) private readonly changes: RegistryChanges,
  ) {}

  /** Emitted at a repeat too: the first message may have been lost. */
  async handle(request: PublishVersionRequest) {
    const method = await this.methods.publish({
      orgId: orgIdOf(request.orgId),
      methodId: methodIdOf(request.methodId),
      versionId: versionIdOf(request.versionId),
      doer: doerOf(request.doer),
    });
    this.changes.methodPublished(method);
    return { method: methodMessage(method) };
  }
}
