// FindMethods: which of the methods a worker names its organization has, published or not.
import { bareMethodId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { FindMethodsRequest } from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { MethodStore } from '../store/method-store.ts';
import { orgIdOf } from './request-ids.ts';

const METHODS_MAX = 1_000;

@injectable()
export class FindMethods {
  constructor(@inject(MethodStore) private readonly methods: MethodStore) {}

  async handle(request: FindMethodsRequest) {
    const { methodIds } = request;
    if (methodIds.length > METHODS_MAX)
      throw new ServiceError('invalid_request', 'At most 1000 methods are asked for.');
    const bareIds = methodIds.flatMap((id) => bareMethodId(id) ?? []);
    const there = await this.methods.existing(orgIdOf(request.orgId), bareIds);
    return { methodIds: methodIds.filter((id) => there.has(bareMethodId(id) ?? '')) };
  }
}
