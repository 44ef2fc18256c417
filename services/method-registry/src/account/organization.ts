// An organization, identified by its issuer, and its settings for its runs and webhooks.
import { ServiceError } from '@methods/errors/service-error';
import { boundedText } from '../text/bounded-text.ts';

const RETENTION_DAYS_MAX = 3_650;
const HOSTS_MAX = 100;
const ZONE_CHARACTERS_MAX = 64;
const HOST_CHARACTERS_MAX = 253;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const HOST = new RegExp(`^(?:\\*\\.)?(?:${LABEL}\\.)*${LABEL}$`);

export interface Settings {
  /** Plain content of runs is refused; only encrypted content is kept. */
  readonly contentOnDevices: boolean;
  /** How long finished runs are kept. */
  readonly retentionDays: number;
  /** Host names that webhooks may use, `*.example.com` for all names below it; empty: any public one. */
  readonly webhookHosts: readonly string[];
  /** IANA name of the time zone in which mails and pages show times. */
  readonly timeZone: string;
}

/** Absent fields are not changed. */
export type SettingsChange = { readonly [Setting in keyof Settings]: Settings[Setting] | null };

/** @throws ServiceError invalid_request that names the setting. */
export function settingsChange(change: SettingsChange): SettingsChange {
  const { retentionDays, webhookHosts, timeZone } = change;
  if (retentionDays !== null && (retentionDays < 1 || retentionDays > RETENTION_DAYS_MAX)) {
    throw refused('/retention_days', 'retention_days', `retention_days is 1 to ${RETENTION_DAYS_MAX}.`);
  }
  if (webhookHosts !== null) {
    if (webhookHosts.length > HOSTS_MAX) {
      throw refused('/webhook_hosts', 'webhook_hosts_count', `webhook_hosts has at most ${HOSTS_MAX} names.`);
    }
    const wrong = webhookHosts.findIndex((host) => host.length > HOST_CHARACTERS_MAX || !HOST.test(host));
    if (wrong !== -1) {
      const rule = 'A webhook host is a host name in lower case, with "*." before it for all below it.';
      throw refused(`/webhook_hosts/${wrong}`, 'webhook_host', rule);
    }
  }
  if (timeZone !== null && !isTimeZone(timeZone)) {
    throw refused('/time_zone', 'time_zone', 'time_zone is a name of the IANA time zone database, like Europe/Vienna.');
  }
  return change;
}

/** Offsets such as +02:00 are refused: a place's zone changes in summer, an offset does not. */
function isTimeZone(name: string): boolean {
  if (name.length > ZONE_CHARACTERS_MAX || !/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function refused(path: string, code: string, message: string): ServiceError {
  return new ServiceError('invalid_request', message, { findings: [{ path, code, message }] });
}

/** An organization is identified by the issuer of its members' tokens and the issuer's own name for it. */
export interface ExternalOrganization {
  readonly issuer: string;
  readonly externalId: string;
  readonly name: string;
}

/** @throws ServiceError invalid_request. Without a name the external id is the name. */
export function externalOrganization(issuer: string, externalId: string, name: string): ExternalOrganization {
  return {
    issuer: boundedText('issuer', issuer, { min: 1, max: 512 }),
    externalId: boundedText('external_id', externalId, { min: 1, max: 256 }),
    name: boundedText('name', name === '' ? externalId : name, { min: 1, max: 256 }),
  };
}
