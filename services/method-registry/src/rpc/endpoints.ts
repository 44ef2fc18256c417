// The admins' RPCs for their organization's endpoints, and those of the services that notify them.
import { SecretBoxError } from '@methods/auth/secret-box';
import { newId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type {
  ChangeEndpointRequest,
  CreateEndpointRequest,
  DeleteEndpointRequest,
  EndpointService,
  GetEndpointEventsRequest,
  GetEndpointTargetsRequest,
  ListEndpointsRequest,
  RotateEndpointRequest,
} from '@methods/proto/registry/v1/endpoint_service_pb';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import { inject, injectable } from 'tsyringe';
import { RegistryChanges } from '../bus/registry-changes.ts';
import {
  type Endpoint,
  EndpointSecrets,
  endpointEvents,
  endpointFormat,
  overlapMs,
  type SealedTarget,
  shownUrl,
} from '../endpoint/endpoint.ts';
import { type EndpointAct, EndpointStore } from '../store/endpoint-store.ts';
import { boundedText } from '../text/bounded-text.ts';
import { doerOf, endpointIdOf, orgIdOf } from './request-fields.ts';

const NAME = { min: 1, max: 200 };
const URL_TEXT = { min: 1, max: 2_048 };

@injectable()
class Endpoints {
  constructor(
    @inject(EndpointStore) private readonly endpoints: EndpointStore,
    @inject(EndpointSecrets) private readonly secrets: EndpointSecrets,
    @inject(RegistryChanges) private readonly changes: RegistryChanges,
  ) {}

  async list(request: ListEndpointsRequest) {
    return { endpoints: (await this.endpoints.list(orgIdOf(request.orgId))).map(endpointMessage) };
  }

  async create(request: CreateEndpointRequest) {
    const orgId = orgIdOf(request.orgId);
    const endpointId = newId('ep');
    const format = endpointFormat(request.format);
    const url = boundedText('url', request.url, URL_TEXT);
    const { secret, sealed } = this.secrets.createSecret({ orgId, endpointId });
    const endpoint = await this.endpoints.create({
      orgId,
      endpointId,
      name: endpointName(request.name),
      format,
      sealedUrl: this.secrets.sealUrl({ orgId, endpointId }, url),
      shownUrl: shownUrl(format, url),
      events: endpointEvents(request.events),
      sealedSecret: sealed,
      doer: doerOf(request.doer),
    });
    this.changes.endpointChanged(endpoint);
    return { endpoint: endpointMessage(endpoint), webhookSecret: format === 'webhook' ? secret : '' };
  }

  /** Emitted for a repeat too, since the first message may have been lost. */
  async change(request: ChangeEndpointRequest) {
    const act = actOf(request);
    const { name, url, events, paused } = request;
    const changed = await this.endpoints.change(act, {
      name: name === undefined ? null : endpointName(name),
      url: url === undefined ? null : await this.sealedUrl(act, boundedText('url', url, URL_TEXT)),
      events: events === undefined ? null : endpointEvents(events.events),
      paused: paused ?? null,
    });
    this.changes.endpointChanged(changed);
    return { endpoint: endpointMessage(changed) };
  }

  async remove(request: DeleteEndpointRequest) {
    const act = actOf(request);
    await this.endpoints.remove(act);
    this.changes.endpointChanged(act);
    return {};
  }

  async rotate(request: RotateEndpointRequest) {
    const act = actOf(request);
    const ms = overlapMs(request.overlapMs);
    const { format } = await this.endpoints.find(act.orgId, act.endpointId);
    if (format !== 'webhook') {
      const message = 'A chat checks no signature, so its endpoint has no secret.';
      throw new ServiceError('invalid_request', message, { findings: [{ path: '', code: 'format', message }] });
    }
    const { secret, sealed } = this.secrets.createSecret(act);
    const endpoint = await this.endpoints.rotate(act, sealed, ms);
    this.changes.endpointChanged(endpoint);
    return { endpoint: endpointMessage(endpoint), webhookSecret: secret };
  }

  async targets(request: GetEndpointTargetsRequest) {
    const targets = await this.endpoints.targets(orgIdOf(request.orgId));
    return { targets: targets.map((target) => this.targetMessage(target)) };
  }

  async events(request: GetEndpointEventsRequest) {
    return { events: [...(await this.endpoints.events(orgIdOf(request.orgId)))] };
  }

  private async sealedUrl(act: EndpointAct, url: string) {
    const { format } = await this.endpoints.find(act.orgId, act.endpointId);
    return { sealed: this.secrets.sealUrl(act, url), shown: shownUrl(format, url) };
  }

  private targetMessage(target: SealedTarget) {
    const { endpointId, name, format, events, paused, changedAt } = target;
    const facts = { endpointId, name, format, events: [...events], paused, changedAtMs: changedAt.getTime() };
    try {
      return { ...facts, url: this.secrets.openUrl(target, target.sealedUrl), ...this.signing(target) };
    } catch (error) {
      if (!(error instanceof SecretBoxError)) throw error;
      // One row that cannot be unsealed must not block the organization's other endpoints: its tries fail.
      return { ...facts, url: '', secret: '', earlier: [] };
    }
  }

  private signing(target: SealedTarget) {
    if (target.format !== 'webhook') return { secret: '', earlier: [] };
    const earlier = target.earlier.map(({ sealed, until }) => ({
      secret: this.secrets.openSecret(target, sealed),
      untilMs: until.getTime(),
    }));
    return { secret: this.secrets.openSecret(target, target.sealedSecret), earlier };
  }
}

function actOf(request: ChangeEndpointRequest | DeleteEndpointRequest | RotateEndpointRequest): EndpointAct {
  return {
    orgId: orgIdOf(request.orgId),
    endpointId: endpointIdOf(request.endpointId),
    doer: doerOf(request.doer),
  };
}

function endpointMessage(endpoint: Endpoint) {
  return {
    orgId: endpoint.orgId,
    endpointId: endpoint.endpointId,
    name: endpoint.name,
    format: endpoint.format,
    shownUrl: endpoint.shownUrl,
    events: [...endpoint.events],
    paused: endpoint.paused,
    createdAtMs: endpoint.createdAt.getTime(),
    createdBy: { ...endpoint.createdBy },
    earlierUntilMs: endpoint.earlierUntil?.getTime() ?? 0,
  };
}

/** A chat's answers carry the endpoint's name, so it must not look like a person's address. */
function endpointName(text: string): string {
  const name = boundedText('name', text, NAME);
  if (!name.includes('@')) return name;
  const message = 'The name of an endpoint has no @.';
  throw new ServiceError('invalid_request', message, { findings: [{ path: '/name', code: 'name_at', message }] });
}

/** The list of the RPCs about endpoints. */
@injectable()
export class EndpointRpcs {
  constructor(@inject(Endpoints) private readonly endpoints: Endpoints) {}

  handlers(): ServiceImplementation<typeof EndpointService> {
    return {
      listEndpoints: (request) => this.endpoints.list(request),
      createEndpoint: (request) => this.endpoints.create(request),
      changeEndpoint: (request) => this.endpoints.change(request),
      deleteEndpoint: (request) => this.endpoints.remove(request),
      rotateEndpoint: (request) => this.endpoints.rotate(request),
      getEndpointTargets: (request) => this.endpoints.targets(request),
      getEndpointEvents: (request) => this.endpoints.events(request),
    };
  }
}
