// Which methods an organization has, among those its workers name. The registry is asked once for each: a method is
// never deleted. While the registry is unavailable, unknown methods pass: running work must not stop with it, and a
// queue without runs costs little.
import type { OrgId, ProductionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';

const KNOWN_MAX = 100_000;

export class KnownMethods {
  private readonly known = new Set<string>();

  constructor(
    private readonly options: {
      /** The methods among them that the organization has. */
      readonly find: (orgId: OrgId, methods: readonly ProductionId[]) => Promise<readonly string[]>;
    },
  ) {}

  /** The methods that the organization does not have; null: all are known without asking. */
  unknown(orgId: OrgId, methods: readonly ProductionId[]): Promise<ProductionId[]> | null {
    const doubtful = methods.filter((method) => !this.known.has(`${orgId}/${method}`));
    return doubtful.length === 0 ? null : this.ask(orgId, doubtful);
  }

  private async ask(orgId: OrgId, methods: readonly ProductionId[]): Promise<ProductionId[]> {
    const found = await this.options.find(orgId, methods).catch(whileAway);
    if (found === null) return [];
    if (this.known.size + found.length > KNOWN_MAX) this.known.clear();
    for (const method of found) this.known.add(`${orgId}/${method}`);
    const there = new Set<string>(found);
    return methods.filter((method) => !there.has(method));
  }
}

/** A registry that does not know this call yet answers `internal`. */
function whileAway(error: unknown): null {
  if (error instanceof ServiceError && (error.code === 'unavailable' || error.code === 'internal')) return null;
  throw error;
}
