// The names of an organization's service keys, for people who see what a key has started.
import { Clock } from '@methods/base/clock';
import type { KeyId, OrgId } from '@methods/base/ids';
import type { RegistryChanged } from '@methods/proto/event/v1/event_pb';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import { inject, injectable } from 'tsyringe';
import { AgedCache } from '../cache/aged-cache.ts';
import { RegistryCalls } from './registry-calls.ts';
import type { RegistryChangeListener } from './registry-changes.ts';

type Names = ReadonlyMap<KeyId, string>;

const CALL_MS = 2_000;
const AGE_MS = 30_000;
const BYTES_MAX = 8 * 1024 * 1024;
const NO_NAMES: Names = new Map();

@injectable()
export class KeyNames implements RegistryChangeListener {
  private readonly known: AgedCache<Names>;

  constructor(
    @inject(RegistryCalls) private readonly calls: Pick<RegistryCalls, 'methods'>,
    @inject(Clock) clock: Clock,
  ) {
    const bytesOf = (names: Names) => 100 + 200 * names.size;
    this.known = new AgedCache<Names>({ clock, bytesMax: BYTES_MAX, ageMsOf: () => AGE_MS, bytesOf });
  }

  /** Returns the runs with the names of the keys that started them. A key that is not known has no name. */
  async shownIn(orgId: OrgId, runs: readonly RunView[]): Promise<readonly RunView[]> {
    if (!runs.some(({ starter }) => starter !== undefined && starter.keyId !== '')) return runs;
    const names = await this.of(orgId);
    return runs.map((run) => {
      const name = run.starter && names.get(run.starter.keyId as KeyId);
      return run.starter && name ? { ...run, starter: { ...run.starter, name } } : run;
    });
  }

  onChanged({ kind, orgId }: RegistryChanged): void {
    if (kind === 'key') this.known.expire(orgId);
  }

  onEventsMissed(): void {
    this.known.expireAll();
  }

  /** Without the registry, runs are shown without names. */
  private async of(orgId: OrgId): Promise<Names> {
    try {
      return await this.known.get(orgId, () => this.read(orgId));
    } catch {
      return NO_NAMES;
    }
  }

  /** The newest 1,000 keys, those that live first. */
  private async read(orgId: OrgId): Promise<Names> {
    const { keys } = await this.calls.methods.listServiceKeys({ orgId }, { timeoutMs: CALL_MS });
    return new Map(keys.map(({ keyId, name }) => [keyId, name]));
  }
}
