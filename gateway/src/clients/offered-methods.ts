// The methods that an organization offers to agents, as the registry describes them: fetched when a client asks, and
// cached until they change.
import type { Clock } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import type { RegistryChanged } from '@methods/proto/event/v1/event_pb';
import type { OfferedMethod } from '@methods/proto/registry/v1/method_pb';
import { AgedCache } from '../cache/aged-cache.ts';
import type { RegistryCalls } from './registry-calls.ts';
import type { RegistryChangeListener } from './registry-changes.ts';

const AGE_MS = 30_000;
const MIB = 1024 * 1024;
const CALL_MS = 5_000;

export class OfferedMethods implements RegistryChangeListener {
  private readonly known: AgedCache<readonly OfferedMethod[]>;

  constructor(
    private readonly calls: Pick<RegistryCalls, 'methods'>,
    clock: Clock,
  ) {
    this.known = new AgedCache({ clock, bytesMax: 64 * MIB, ageMsOf: () => AGE_MS, bytesOf });
  }

  /** Returns the callable ones, by method id. A promise only if the registry must be asked. */
  of(orgId: OrgId): readonly OfferedMethod[] | Promise<readonly OfferedMethod[]> {
    return this.known.get(orgId, async () => {
      const { methods } = await this.calls.methods.listOfferedMethods({ orgId }, { timeoutMs: CALL_MS });
      return methods.filter(({ unavailable }) => unavailable === '');
    });
  }

  onChanged({ kind, orgId }: RegistryChanged): void {
    if (kind === 'offer' || kind === 'method') this.known.drop(orgId);
  }

  onEventsMissed(): void {
    this.known.expireAll();
  }
}

function bytesOf(methods: readonly OfferedMethod[]): number {
  return methods.reduce(
    (bytes, { inputSchemaJson, resultSchemaJson, description }) =>
      bytes + 2 * (inputSchemaJson.length + resultSchemaJson.length + description.length) + 500,
    500,
  );
}
