// CreateMethod: a method with its first version, once for each creation key.
import type { Finding } from '@methods/errors/service-error';
import type { CreateMethodRequest } from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { givenDisplayName } from '../method/display-name.ts';
import { readMethodSource } from '../method/method-source.ts';
import { type CreatedMethod, MethodStore } from '../store/method-store.ts';
import { CalledMethods } from './called-methods.ts';
import { callerName } from './caller-name.ts';
import { methodMessage, versionMessage } from './registry-message.ts';
import { digestOf, orgIdOf } from './request-ids.ts';

@injectable()
export class CreateMethod {
  constructor(
    @inject(MethodStore) private readonly methods: MethodStore,
    @inject(CalledMethods) private readonly called: CalledMethods,
  ) {}

  /** A known key gets what it made, whatever else the request says: the rest may have been lost or changed since. */
  async handle(request: CreateMethodRequest) {
    const orgId = orgIdOf(request.orgId);
    const idempotencyHash = digestOf('idempotency_hash', request.idempotencyHash);
    const known = await this.methods.findByRequest(orgId, idempotencyHash);
    if (known !== null) return reply({ ...known, created: false }, []);
    const givenName = givenDisplayName(request.displayName);
    const createdBy = callerName('created_by', request.createdBy);
    const source = readMethodSource(request.source, await this.called.of(orgId, null, request.source));
    const displayName = givenName ?? source.displayName;
    const made = await this.methods.create({ orgId, idempotencyHash, displayName, source, createdBy });
    return reply(made, made.created ? source.warnings : []);
  }
}

function reply({ method, version, created }: CreatedMethod & { created: boolean }, warnings: readonly Finding[]) {
  return {
    method: methodMessage(method),
    version: versionMessage(version),
    created,
    warnings: warnings.map((warning) => ({ ...warning })),
  };
}
