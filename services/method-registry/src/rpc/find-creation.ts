// FindCreation: what a creation key made, for a caller that lost the reply.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type {
  FindCreationRequest,
  FindCreationResponseSchema,
} from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { CreationStore } from '../store/creation-store.ts';
import { methodMessage } from './registry-message.ts';
import { digestOf, orgIdOf } from './request-ids.ts';

@injectable()
export class FindCreation {
  constructor(@inject(CreationStore) private readonly creations: CreationStore) {}

  async handle(request: FindCreationRequest): Promise<MessageInitShape<typeof FindCreationResponseSchema>> {
    const orgId = orgIdOf(request.orgId);
    const made = await this.creations.find(orgId, digestOf('idempotency_hash', request.idempotencyHash));
    if (made === null) return { found: false };
    return {
      found: true,
      ...(made.method === null ? {} : { method: methodMessage(made.method) }),
      versionId: made.kind === 'method' ? (made.version?.versionId ?? '') : '',
    };
  }
}
