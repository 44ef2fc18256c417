// The organizations' settings for their runs, fetched once and cached for at most 30 s, so that a start costs no
// look-up. The bus announces a change, which drops the cached settings at once; otherwise the last known ones stay
// valid while the registry is unavailable.
import { Clock } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { RegistryChanged } from '@methods/proto/event/v1/event_pb';
import type { Settings as SettingsMessage } from '@methods/proto/registry/v1/account_pb';
import { inject, injectable } from 'tsyringe';
import { AgedCache } from '../cache/aged-cache.ts';
import { RegistryCalls } from './registry-calls.ts';
import type { RegistryChangeListener } from './registry-changes.ts';

export interface Settings {
  /** Plain content of runs is refused. */
  readonly contentOnDevices: boolean;
  /** How long finished runs are kept, 1 to 3650. */
  readonly retentionDays: number;
  /** Host names that webhooks may use, `*.example.com` for all names below it; empty: any. */
  readonly webhookHosts: readonly string[];
  /** IANA name of the time zone that people see. */
  readonly timeZone: string;
}

const CALL_MS = 3_000;
const AGE_MS = 30_000;
const MIB = 1024 * 1024;

@injectable()
export class OrganizationSettings implements RegistryChangeListener {
  private readonly known: AgedCache<Settings>;

  constructor(
    @inject(RegistryCalls) private readonly calls: Pick<RegistryCalls, 'accounts'>,
    @inject(Clock) clock: Clock,
  ) {
    const bytesOf = ({ webhookHosts }: Settings) => 300 + 300 * webhookHosts.length;
    this.known = new AgedCache<Settings>({ clock, bytesMax: 16 * MIB, ageMsOf: () => AGE_MS, bytesOf });
  }

  /** A promise only if the registry must be asked. */
  of(orgId: OrgId): Settings | Promise<Settings> {
    return this.known.get(orgId, async () => {
      const { settings } = await this.calls.accounts.getSettings({ orgId }, { timeoutMs: CALL_MS });
      return settingsOf(settings);
    });
  }

  /**
   * This gateway's own change is valid from its reply on, even if the message is lost. Another gateway's later change may
   * have been announced before this reply came, so these are only used if the registry cannot be asked.
   */
  changed(orgId: OrgId, settings: Settings): void {
    this.known.put(orgId, settings);
  }

  onChanged({ kind, orgId }: RegistryChanged): void {
    // Not even while the registry is unavailable: an organization that has just refused plain content must not get any.
    if (kind === 'settings') this.known.drop(orgId);
  }

  onEventsMissed(): void {
    this.known.expireAll();
  }
}

export function settingsOf(message: SettingsMessage | undefined): Settings {
  if (!message) throw new ServiceError('internal', undefined, { cause: new Error('a reply without settings') });
  const { contentOnDevices, retentionDays, webhookHosts, timeZone } = message;
  // A registry of the previous release has no zone.
  return { contentOnDevices, retentionDays, webhookHosts, timeZone: timeZone || 'UTC' };
}
