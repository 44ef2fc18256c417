// The RPCs of methods: their creation and records, their published version, and the build of a recorded one.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { bareMethodId } from '@methods/base/ids';
import { type Finding, ServiceError } from '@methods/errors/service-error';
import type {
  CreateMethodRequest,
  FindCreationRequest,
  FindCreationResponseSchema,
  FindMethodsRequest,
  GetMethodRequest,
  ListMethodsRequest,
  PublishVersionRequest,
  RetryBuildRequest,
  UpdateMethodRequest,
} from '@methods/proto/registry/v1/method_registry_service_pb';
import type { CallContext } from '@methods/rpc/call-handler';
import { inject, injectable } from 'tsyringe';
import { Builds } from '../build/builds.ts';
import { RegistryChanges } from '../bus/registry-changes.ts';
import { displayNameFrom, givenAgentPrompt, givenDisplayName } from '../method/method.ts';
import { pageRequest } from '../page/page.ts';
import { BuildStore } from '../store/build-store.ts';
import { type CreatedMethod, type Creation, CreationStore, keyOfUpload } from '../store/creation-store.ts';
import { MethodStore } from '../store/method-store.ts';
import { UploadStore } from '../store/upload-store.ts';
import { boundedText } from '../text/bounded-text.ts';
import { CalledMethods } from './called-methods.ts';
import { methodMessage, versionMessage } from './registry-message.ts';
import { digestOf, doerOf, methodIdOf, orgIdOf, uploadIdOf, versionIdOf } from './request-fields.ts';

/** The number that one request may ask for. */
const METHODS_MAX = 1_000;

@injectable()
export class Methods {
  constructor(
    @inject(MethodStore) private readonly methods: MethodStore,
    @inject(BuildStore) private readonly buildStore: BuildStore,
    @inject(Builds) private readonly builds: Builds,
    @inject(RegistryChanges) private readonly changes: RegistryChanges,
  ) {}

  /** With its agent prompt. */
  async get(request: GetMethodRequest) {
    const { method, agentPrompt } = await this.methods.find(orgIdOf(request.orgId), methodIdOf(request.methodId));
    return { method: methodMessage(method), agentPrompt };
  }

  /** Returns which of the methods that a worker names the organization has, published or not. */
  async find(request: FindMethodsRequest) {
    const { methodIds } = request;
    if (methodIds.length > METHODS_MAX)
      throw new ServiceError('invalid_request', 'At most 1000 methods are asked for.');
    const bareIds = methodIds.flatMap((id) => bareMethodId(id) ?? []);
    const there = await this.methods.existing(orgIdOf(request.orgId), bareIds);
    return { methodIds: methodIds.filter((id) => there.has(bareMethodId(id) ?? '')) };
  }

  /** Returns all methods, newest first, or those whose names contain a text. */
  async list(request: ListMethodsRequest) {
    const orgId = orgIdOf(request.orgId);
    const page = pageRequest(request, (id) => bareMethodId(id) === id);
    const search = boundedText('search', request.search, { min: 0, max: 200 });
    const { items, nextCursor } = await this.methods.list({ orgId, search, page });
    return { methods: items.map(methodMessage), nextCursor };
  }

  async update({ orgId, methodId, displayName, agentPrompt, doer }: UpdateMethodRequest) {
    const method = await this.methods.change({
      orgId: orgIdOf(orgId),
      methodId: methodIdOf(methodId),
      // An empty name was given here, so it is refused.
      displayName: displayName === undefined ? null : boundedText('display_name', displayName, { min: 1, max: 200 }),
      agentPrompt: agentPrompt === undefined ? null : givenAgentPrompt(agentPrompt),
      doer: doerOf(doer),
    });
    if (method.isOffered) this.changes.offerChanged(method);
    return { method: methodMessage(method) };
  }

  /** Sets the version of runs that name none. Emitted for a repeat too, since the first message may have been lost. */
  async publish(request: PublishVersionRequest) {
    const method = await this.methods.publish({
      orgId: orgIdOf(request.orgId),
      methodId: methodIdOf(request.methodId),
      versionId: versionIdOf(request.versionId),
      doer: doerOf(request.doer),
    });
    this.changes.methodPublished(method);
    if (method.isOffered) this.changes.offerChanged(method);
    return { method: methodMessage(method) };
  }

  /** Compiles a failed recording again, on the same method. */
  async retryBuild(request: RetryBuildRequest) {
    const orgId = orgIdOf(request.orgId);
    const methodId = methodIdOf(request.methodId);
    await this.buildStore.retry(orgId, methodId, doerOf(request.doer));
    const { method } = await this.methods.find(orgId, methodId);
    this.builds.wake();
    return { method: methodMessage(method) };
  }
}

/** Creates a method from a source, an agent prompt or both, or from an upload; once for each creation key. */
@injectable()
export class CreateMethod {
  constructor(
    @inject(CreationStore) private readonly creations: CreationStore,
    @inject(UploadStore) private readonly uploads: UploadStore,
    @inject(CalledMethods) private readonly called: CalledMethods,
    @inject(RegistryChanges) private readonly changes: RegistryChanges,
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
    if (made.created) this.changes.methodCreated(made.method);
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
