// The methods that an organization offers to agents: an admin chooses them, and agents get them as tools.
import { setImmediate } from 'node:timers/promises';
import type { OrgId } from '@methods/base/ids';
import type {
  ListOfferedMethodsRequest,
  OfferMethodRequest,
} from '@methods/proto/registry/v1/method_registry_service_pb';
import type { CallContext } from '@methods/rpc/call-handler';
import { inject, injectable } from 'tsyringe';
import { RegistryChanges } from '../bus/registry-changes.ts';
import type { SourceFacts } from '../method/method-source.ts';
import { MethodStore } from '../store/method-store.ts';
import { type Offer, OfferStore } from '../store/offer-store.ts';
import { VersionStore } from '../store/version-store.ts';
import { KnownSources } from './called-methods.ts';
import { methodMessage } from './registry-message.ts';
import { doerOf, methodIdOf, orgIdOf } from './request-fields.ts';

/** For the inputs and result of one method. An agent reads all of them with its list of tools. */
const SCHEMA_BYTES_MAX = 64 * 1024;
/** For an organization. */
const SCHEMAS_BYTES_MAX = 2 * 1024 * 1024;

type Unavailable = 'not_published' | 'not_described' | 'too_large';

interface Described {
  readonly name: string;
  readonly description: string;
  readonly inputSchemaJson: string;
  readonly resultSchemaJson: string;
}

@injectable()
export class Offers {
  constructor(
    @inject(OfferStore) private readonly offers: OfferStore,
    @inject(MethodStore) private readonly methods: MethodStore,
    @inject(VersionStore) private readonly versions: VersionStore,
    @inject(KnownSources) private readonly known: KnownSources,
    @inject(RegistryChanges) private readonly changes: RegistryChanges,
  ) {}

  /** Emitted for a repeat too, since the first message may have been lost. */
  async offer(request: OfferMethodRequest) {
    const orgId = orgIdOf(request.orgId);
    const methodId = methodIdOf(request.methodId);
    const act = { orgId, methodId, doer: doerOf(request.doer) };
    if (request.offered) await this.offers.offer(act);
    else await this.offers.withdraw(act);
    const { method } = await this.methods.find(orgId, methodId);
    this.changes.offerChanged(method);
    return { method: methodMessage(method) };
  }

  /** Methods that cannot be called are listed with the reason. */
  async list(request: ListOfferedMethodsRequest, { signal }: Pick<CallContext, 'signal'>) {
    const orgId = orgIdOf(request.orgId);
    const methods = [];
    let bytesLeft = SCHEMAS_BYTES_MAX;
    for (const offer of await this.offers.list(orgId)) {
      signal.throwIfAborted();
      // Known facts come at once: without a turn for others, the schemas of a hundred methods would be one long piece
      // of work.
      await setImmediate();
      const described = await this.described(orgId, offer, bytesLeft, signal);
      if (typeof described !== 'string') bytesLeft -= schemaBytes(described);
      methods.push({
        method: methodMessage(offer.method),
        ...(typeof described === 'string' ? { unavailable: described } : described),
      });
    }
    return { methods };
  }

  private async described(
    orgId: OrgId,
    { method: { methodId }, published }: Offer,
    bytesLeft: number,
    signal: AbortSignal,
  ): Promise<Described | Unavailable> {
    if (published === null) return 'not_published';
    const { versionId, sha256 } = published;
    const read = async () => (await this.versions.find(orgId, methodId, { kind: 'saved', versionId })).source;
    const facts = await this.known.facts(sha256, read, { orgId, signal });
    return facts === null || facts.interfaceJson === ''
      ? 'not_described'
      : describedBy(facts, Math.min(SCHEMA_BYTES_MAX, bytesLeft));
  }
}

function describedBy(facts: SourceFacts, bytesMax: number): Described | Unavailable {
  const { name, description, interfaceJson } = facts;
  // Both schemas and at least this much around them.
  if (interfaceJson.length > bytesMax + '{"inputSchema":,"resultSchema":}'.length) return 'too_large';
  const { inputSchema, resultSchema } = JSON.parse(interfaceJson) as Record<'inputSchema' | 'resultSchema', unknown>;
  const described = {
    name,
    description,
    inputSchemaJson: JSON.stringify(inputSchema),
    resultSchemaJson: JSON.stringify(resultSchema),
  };
  return schemaBytes(described) > bytesMax ? 'too_large' : described;
}

function schemaBytes({ inputSchemaJson, resultSchemaJson }: Described): number {
  return Buffer.byteLength(inputSchemaJson) + Buffer.byteLength(resultSchemaJson);
}
