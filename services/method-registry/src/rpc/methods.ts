// The RPCs of methods: their records, their published version, and the build of a recorded one.
import { bareMethodId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type {
  FindMethodsRequest,
  GetMethodRequest,
  ListMethodsRequest,
  PublishVersionRequest,
  RetryBuildRequest,
  UpdateMethodRequest,
} from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { Builds } from '../build/builds.ts';
import { RegistryChanges } from '../bus/registry-changes.ts';
import { givenAgentPrompt } from '../method/method.ts';
import { pageRequest } from '../page/page.ts';
import { BuildStore } from '../store/build-store.ts';
import { MethodStore } from '../store/method-store.ts';
import { boundedText } from '../text/bounded-text.ts';
import { methodMessage } from './registry-message.ts';
import { doerOf, methodIdOf, orgIdOf, versionIdOf } from './request-fields.ts';

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
