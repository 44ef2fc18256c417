// Resolves host names: known to this machine, cached, or asked of a name server. The try that asked checks and uses the
// result; this part judges no address.
import type { Clock } from '@methods/base/clock';
import { LRUCache } from 'lru-cache';
import type { HostResolver, ResolvedAddress } from './host-resolver.ts';
import { isLocalhost, type LocalNames } from './local-names.ts';
import type { NameAnswer } from './name-servers.ts';

export interface NameResolverOptions {
  readonly ask: (name: string) => Promise<NameAnswer>;
  readonly clock: Clock;
  /** This machine's own names; null if webhooks go only to public hosts. */
  readonly local: Pick<LocalNames, 'addressesOf' | 'fullNamesOf'> | null;
}

interface Kept {
  readonly answer: Promise<readonly ResolvedAddress[]>;
  /** Infinity while the query is in flight. */
  untilMs: number;
}

const KEPT_MIN_MS = 1_000;
const KEPT_MAX_MS = 60_000;
/** Shorter than the shortest wait between two tries, so that each of them asks. */
const FAILURE_KEPT_MS = 2_000;
const NAMES_MAX = 2_000;

export class NameResolver {
  private readonly names = new LRUCache<string, Kept>({ max: NAMES_MAX });

  constructor(private readonly options: NameResolverOptions) {}

  readonly resolve: HostResolver = async (hostname) => {
    const { local } = this.options;
    // A public name server could give localhost any address.
    if (local === null && isLocalhost(hostname)) return [{ address: '127.0.0.1', family: 4 }];
    if (local === null) return await this.kept(hostname);
    const known = await local.addressesOf(hostname);
    if (known !== null) return known;
    const names = await local.fullNamesOf(hostname);
    for (const name of names.slice(0, -1)) {
      try {
        return await this.kept(name);
      } catch (error) {
        if (!isUnknown(error)) throw error;
      }
    }
    return await this.kept(names.at(-1) ?? hostname);
  };

  /** One query for many tries. */
  private kept(name: string): Promise<readonly ResolvedAddress[]> {
    const { ask, clock } = this.options;
    const known = this.names.get(name);
    if (known !== undefined && known.untilMs > clock.monotonicMs()) return known.answer;
    const keep = (forMs: number) => {
      entry.untilMs = clock.monotonicMs() + forMs;
    };
    const entry: Kept = {
      answer: ask(name).then(({ addresses, ttlMs }) => {
        keep(Math.min(Math.max(ttlMs, KEPT_MIN_MS), KEPT_MAX_MS));
        return addresses;
      }),
      untilMs: Number.POSITIVE_INFINITY,
    };
    entry.answer.catch(() => keep(FAILURE_KEPT_MS));
    this.names.set(name, entry);
    return entry.answer;
  }
}

function isUnknown(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'ENOTFOUND' || code === 'ENODATA';
}
