// Organizations and their settings in registry.organizations and registry.settings.
import { assert } from '@methods/base/assert';
import { newId, type OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { inject, injectable } from 'tsyringe';
import type { ExternalOrganization, Settings, SettingsChange } from '../account/organization.ts';
import type { Doer } from '../audit/audit-entry.ts';
import { auditRow } from './audit-store.ts';
import { Database, query, Reader } from './registry-database.ts';

@injectable()
export class OrganizationStore {
  constructor(@inject(Database) private readonly sql: Database) {}

  /**
   * Returns the organization of an issuer and external id, and creates it on first use. A known one keeps its first
   * name.
   */
  async ensure(organization: ExternalOrganization): Promise<{ orgId: OrgId; created: boolean }> {
    // Reads first: every sign-in comes through here, and an insert that finds a row still costs a write.
    const known = await this.find(organization);
    if (known !== null) return { orgId: known, created: false };
    const orgId = newId('org');
    const made = await query(this.sql`
      insert into registry.organizations (org_id, issuer, external_id, name)
      values (${orgId}, ${organization.issuer}, ${organization.externalId}, ${organization.name})
      on conflict on constraint organizations_external_key do nothing
      returning org_id`);
    if (made.length > 0) return { orgId, created: true };
    const other = await this.find(organization);
    assert(other !== null, 'an organization that was in the way is there');
    return { orgId: other, created: false };
  }

  private async find({ issuer, externalId }: ExternalOrganization): Promise<OrgId | null> {
    const rows = await query(this.sql<{ org_id: OrgId }[]>`
      select org_id from registry.organizations where issuer = ${issuer} and external_id = ${externalId}`);
    return rows[0]?.org_id ?? null;
  }
}

interface SettingsRow {
  readonly content_on_devices: boolean;
  readonly retention_days: number;
  readonly webhook_hosts: string[];
  readonly time_zone: string;
}

/** The same as in the columns. */
const DEFAULTS: Settings = { contentOnDevices: false, retentionDays: 30, webhookHosts: [], timeZone: 'UTC' };

/** Settings in registry.settings, whose columns hold the defaults; an organization that changed nothing has no row. */
@injectable()
export class SettingsStore {
  constructor(
    @inject(Database) private readonly sql: Database,
    @inject(Reader) private readonly reader: Reader,
  ) {}

  /** For an organization that changed nothing: the defaults. @throws ServiceError not_found. */
  async get(orgId: OrgId): Promise<Settings> {
    const [row] = await query(
      this.reader.read(
        orgId,
        (sql) => sql<(SettingsRow | { [Column in keyof SettingsRow]: null })[]>`
          select s.content_on_devices, s.retention_days, s.webhook_hosts, s.time_zone
          from registry.organizations o left join registry.settings s on s.org_id = o.org_id
          where o.org_id = ${orgId}`,
      ),
    );
    if (row === undefined) throw noSuchOrganization();
    return row.retention_days === null ? DEFAULTS : toSettings(row);
  }

  /** @throws ServiceError not_found. */
  async change(orgId: OrgId, change: SettingsChange, doer: Doer): Promise<Settings> {
    const { sql } = this;
    // Inserts the defaults as a row first, so that a change and its audit line always begin with a row that can be
    // locked.
    await query(
      sql`insert into registry.settings (org_id) values (${orgId}) on conflict on constraint settings_pkey do nothing`,
    );
    const hosts = change.webhookHosts === null ? null : [...change.webhookHosts];
    const [row] = await query(sql<SettingsRow[]>`
      with before as (
        select * from registry.settings where org_id = ${orgId} for update
      ), wanted as (
        select org_id, coalesce(${change.contentOnDevices}::boolean, content_on_devices) as content_on_devices,
          coalesce(${change.retentionDays}::integer, retention_days) as retention_days,
          coalesce(${hosts}::text[], webhook_hosts) as webhook_hosts,
          coalesce(${change.timeZone}::text, time_zone) as time_zone
        from before
      ), changed as (
        update registry.settings s set content_on_devices = w.content_on_devices, retention_days = w.retention_days,
          webhook_hosts = w.webhook_hosts, time_zone = w.time_zone
        from wanted w, before b
        where s.org_id = w.org_id and b.org_id = w.org_id
          and (b.content_on_devices, b.retention_days, b.webhook_hosts, b.time_zone)
            is distinct from (w.content_on_devices, w.retention_days, w.webhook_hosts, w.time_zone)
        returning s.org_id, to_jsonb(b) - 'org_id' as before, to_jsonb(w) - 'org_id' as after
      ), audited as (
        ${auditRow(
          sql,
          { doer, action: 'settings.change', targetKind: 'settings' },
          { source: 'changed', targetId: sql`org_id`, before: sql`before`, after: sql`after` },
        )}
      )
      select content_on_devices, retention_days, webhook_hosts, time_zone from wanted`);
    if (row === undefined) throw noSuchOrganization();
    return toSettings(row);
  }
}

function noSuchOrganization(): ServiceError {
  return new ServiceError('not_found', 'There is no such organization.');
}

function toSettings(row: SettingsRow): Settings {
  return {
    contentOnDevices: row.content_on_devices,
    retentionDays: row.retention_days,
    webhookHosts: row.webhook_hosts,
    timeZone: row.time_zone,
  };
}
