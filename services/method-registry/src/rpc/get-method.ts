// GetMethod: a method's record, and its agent prompt.
import type { GetMethodRequest } from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { MethodStore } from '../store/method-store.ts';
import { methodMessage } from './registry-message.ts';
import { methodIdOf, orgIdOf } from './request-ids.ts';

@injectable()
export class GetMethod {
  constructor(@inject(MethodStore) private readonly methods: MethodStore) {}

  async handle(request: GetMethodRequest) {
    const { method, agentPrompt } = await this.methods.find(orgIdOf(request.orgId), methodIdOf(request.methodId));
    return { method: methodMessage(method), agentPrompt };
  }
}
