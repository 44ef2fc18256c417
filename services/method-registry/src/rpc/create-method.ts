// CreateMethod: creates a method from a source, an agent prompt or both, or from an upload; once for each creation key.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Finding, ServiceError } from '@methods/errors/service-error';
import type {
  CreateMethodRequest,
  FindCreationRequest,
  FindCreationResponseSchema,
} from '@methods/proto/registry/v1/method_registry_service_pb';
import type { CallContext } from '@methods/rpc/call-handler';
import { inject, injectable } from 'tsyringe';
import { displayNameFrom, givenAgentPrompt, givenDisplayName } from '../method/method.ts';
import { type CreatedMethod, type Creation, CreationStore, keyOfUpload } from '../store/creation-store.ts';
import { UploadStore } from '../store/upload-store.ts';
import { CalledMethods } from './called-methods.ts';
import { methodMessage, versionMessage } from './registry-message.ts';
import { digestOf, doerOf, orgIdOf, uploadIdOf } from './request-fields.ts';

@injectable()
export class CreateMethod {
  constructor(
    @inject(CreationStore) private readonly creations: CreationStore,
    @inject(UploadStore) private readonly uploads: UploadStore,
    @inject(CalledMethods) private readonly called: CalledMethods,
  ) {}

  /** A known key returns the method it created, even with other fields: they may have been lost or changed since. */
  async handle(request: CreateMethodRequest, { signal }: Pick<CallContext, 'signal'>) {
    const orgId = orgIdOf(request.orgId);
    const idempotencyHash = digestOf('idempotency_hash', request.idempotencyHash);
    const known = await this.creations.find(orgId, idempotencyHash);
    if (known?.kind === 'method') return reply({ ...known, created: false }, []);
    if (request.uploadId !== '') return await this.ofUpload(request, idempotencyHash, known);
    if (known !== null) throw keyOfUpload();
    const givenName = givenDisplayName(request.displayName);
    const agentPrompt = givenAgentPrompt(request.agentPrompt);
    const doer = doerOf(request.doer);
    // If both are missing, the error is about the source.
    const source =
      request.source.length === 0 && agentPrompt !== ''
        ? null
        : await this.called.judged(request.source, null, { orgId, signal });
    const displayName = givenName ?? source?.displayName ?? displayNameFrom({ name: '' });
    const made = await this.creations.create({ orgId, idempotencyHash, displayName, source, agentPrompt, doer });
    return reply(made, made.created ? (source?.warnings ?? []) : []);
  }

  /**
   * The last byte created the method, under the upload's own key; another key is stored as a further one of the same
   * method.
   */
  private async ofUpload(request: CreateMethodRequest, idempotencyHash: Uint8Array, known: Creation | null) {
    const { orgId, uploadId } = request;
    if (request.source.length > 0 || request.agentPrompt !== '') {
      throw new ServiceError('invalid_request', 'upload_id goes with neither source nor agent_prompt.');
    }
    if (known?.kind === 'upload' && known.uploadId !== uploadId) throw keyOfUpload();
    const { method } = await this.uploads.find(orgId, uploadIdOf(uploadId));
    if (method === null) {
      throw new ServiceError('invalid_request', 'The upload waits for bytes: a method is made of it by the last one.', {
        findings: [{ path: '/upload_id', code: 'upload_incomplete', message: 'Send the rest of the recording first.' }],
      });
    }
    if (known === null) {
      await this.creations.addKey(orgId, idempotencyHash, method.methodId);
      const kept = await this.creations.find(orgId, idempotencyHash);
      if (kept?.kind === 'upload') throw keyOfUpload();
      if (kept !== null) return reply({ ...kept, created: false }, []);
    }
    return reply({ method, version: null, created: false }, []);
  }
}

function reply({ method, version, created }: CreatedMethod & { created: boolean }, warnings: readonly Finding[]) {
  return {
    method: methodMessage(method),
    ...(version === null ? {} : { version: versionMessage(version) }),
    created,
    warnings: warnings.map((warning) => ({ ...warning })),
  };
}

/** FindCreation: returns what a creation key created, for a caller that lost the reply. */
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
