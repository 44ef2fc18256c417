// UpdateMethod: another display name or agent prompt.
import type { UpdateMethodRequest } from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { givenAgentPrompt } from '../method/agent-prompt.ts';
import { MethodStore } from '../store/method-store.ts';
import { boundedText } from '../text/bounded-text.ts';
import { methodMessage } from './registry-message.ts';
import { doerOf } from './request-doer.ts';
import { methodIdOf, orgIdOf } from './request-ids.ts';

@injectable()
export class UpdateMethod {
  constructor(@inject(MethodStore) private readonly methods: MethodStore) {}

  async handle({ orgId, methodId, displayName, agentPrompt, doer }: UpdateMethodRequest) {
    const method = await this.methods.change({
      orgId: orgIdOf(orgId),
      methodId: methodIdOf(methodId),
      // Here an empty name is one that was given, and refused.
      displayName: displayName === undefined ? null : boundedText('display_name', displayName, { min: 1, max: 200 }),
      agentPrompt: agentPrompt === undefined ? null : givenAgentPrompt(agentPrompt),
      doer: doerOf(doer),
    });
    return { method: methodMessage(method) };
  }
}
