// Organizations in registry.organizations.
import { assert } from '@methods/base/assert';
import { newId, type OrgId } from '@methods/base/ids';
import { inject, injectable } from 'tsyringe';
import type { ExternalOrganization } from '../organization/organization.ts';
import { Database, query } from './query.ts';

@injectable()
export class OrganizationStore {
  constructor(@inject(Database) private readonly sql: Database) {}

  /** The organization of (issuer, external id), made when there is none. A known one keeps its first name. */
  async ensure(organization: ExternalOrganization): Promise<{ orgId: OrgId; created: boolean }> {
    // Read first: every sign-in comes through here, and an insert that meets a row still costs a write.
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
