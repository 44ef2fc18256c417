// RetryBuild: compiles a failed recording again, on the same method.
import type { RetryBuildRequest } from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { Builds } from '../build/builds.ts';
import { BuildStore } from '../store/build-store.ts';
import { MethodStore } from '../store/method-store.ts';
import { methodMessage } from './registry-message.ts';
import { doerOf } from './request-doer.ts';
import { methodIdOf, orgIdOf } from './request-ids.ts';

@injectable()
export class RetryBuild {
  constructor(
    @inject(BuildStore) private readonly store: BuildStore,
    @inject(MethodStore) private readonly methods: MethodStore,
    @inject(Builds) private readonly builds: Builds,
  ) {}

  async handle(request: RetryBuildRequest) {
    const orgId = orgIdOf(request.orgId);
    const methodId = methodIdOf(request.methodId);
    await this.store.retry(orgId, methodId, doerOf(request.doer));
    const { method } = await this.methods.find(orgId, methodId);
    this.builds.wake();
    return { method: methodMessage(method) };
  }
}
