// People in registry.users. Each change is one statement that includes its audit line.
import type { Role } from '@methods/auth/caller';
import { assert } from '@methods/base/assert';
import { newId, type OrgId, type UserId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { CountedMember } from '@methods/method/needed-people';
import { inject, injectable } from 'tsyringe';
import type { ClaimedUser, Member } from '../account/member.ts';
import type { Doer } from '../audit/audit-entry.ts';
import { type Page, type PageRequest, pageOf } from '../page/page.ts';
import { auditRow } from './audit-store.ts';
import { type MemberRow, memberColumns, toMember } from './member-rows.ts';
import { Database, query, Reader } from './registry-database.ts';

/** The origin of a request. */
export type Origin = Pick<Doer, 'ip' | 'requestId'>;

const DISABLED = 'An admin has ended your access to this organization.';

/** A change of a member by a person of the same organization. */
interface MemberChange {
  readonly orgId: OrgId;
  readonly userId: UserId;
  readonly doer: Doer;
}

interface KnownRow extends MemberRow {
  readonly first_role: string;
  readonly seen_lately: boolean;
}

@injectable()
export class UserStore {
  constructor(
    @inject(Database) private readonly sql: Database,
    @inject(Reader) private readonly reader: Reader,
  ) {}

  /**
   * Returns the user of an issuer, organization and subject, creates both on first use, and updates the user to the
   * issuer's present claims. `roleChanged`: the role that others have cached is out of date. @throws ServiceError
   * forbidden for a disabled user.
   */
  async ensure(user: ClaimedUser, origin: Origin): Promise<{ member: Member; roleChanged: boolean }> {
    // Reads first: every sign-in and every new token comes through here, and nearly all have nothing to write.
    const known = await this.known(user);
    if (known === null) {
      const made = await this.make(user, origin);
      if (made !== null) return { member: made, roleChanged: false };
    }
    const row = known ?? (await this.known(user));
    assert(row !== null, 'a user who was in the way is there');
    if (row.disabled_at !== null) throw new ServiceError('forbidden', DISABLED);
    return isUpToDate(row, user) ? { member: toMember(row), roleChanged: false } : await this.keepUp(row, user, origin);
  }

  private async known({ organization, subject }: ClaimedUser): Promise<KnownRow | null> {
    const { sql } = this;
    const [row] = await query(sql<KnownRow[]>`
      select ${memberColumns(sql)}, u.first_role, u.last_seen_at > now() - interval '5 minutes' as seen_lately
      from registry.organizations o
      join registry.users u on u.org_id = o.org_id
      where o.issuer = ${organization.issuer} and o.external_id = ${organization.externalId}
        and u.subject = ${subject}`);
    return row ?? null;
  }

  /** Null when they were created meanwhile. Concurrent first requests of one organization queue on its row. */
  private async make(
    { organization, subject, email, emailVerified, name, role }: ClaimedUser,
    origin: Origin,
  ): Promise<Member | null> {
    const { sql } = this;
    const userId = newId('usr');
    const doer: Doer = { kind: 'user', id: userId, ...origin };
    const [row] = await query(sql<MemberRow[]>`
      with organization as (
        insert into registry.organizations as o (org_id, issuer, external_id, name, first_user_id)
        values (${newId('org')}, ${organization.issuer}, ${organization.externalId}, ${organization.name}, ${userId})
        on conflict on constraint organizations_external_key
          do update set first_user_id = coalesce(o.first_user_id, excluded.first_user_id)
        returning o.org_id, o.name, o.first_user_id
      ), made as (
        insert into registry.users (org_id, user_id, subject, email, email_verified, name, first_role)
        select org_id, ${userId}, ${subject}, ${email}, ${emailVerified === true && email !== ''}, ${name},
          coalesce(nullif(${role}, ''), case when first_user_id = ${userId} then 'admin' else 'member' end)
        from organization
        on conflict on constraint users_subject_key do nothing
        returning *
      ), audited as (
        ${auditRow(
          sql,
          { doer, action: 'member.join', targetKind: 'member' },
          {
            source: 'made',
            targetId: sql`user_id`,
            before: sql`null`,
            after: sql`jsonb_build_object('role', first_role)`,
          },
        )}
      )
      select ${memberColumns(sql)} from made u join organization o on o.org_id = u.org_id`);
    return row === undefined ? null : toMember(row);
  }

  private async keepUp(
    known: KnownRow,
    user: ClaimedUser,
    origin: Origin,
  ): Promise<{ member: Member; roleChanged: boolean }> {
    const { sql } = this;
    const { org_id: orgId, user_id: userId } = known;
    const { email, name, role } = user;
    const doer: Doer = { kind: 'system', id: 'issuer', ...origin };
    const [row] = await query(sql<(MemberRow & { role_changed: boolean })[]>`
      with before as (
        select org_id, user_id, coalesce(given_role, first_role) as role from registry.users
        where org_id = ${orgId} and user_id = ${userId}
        for update
      ), kept as (
        update registry.users u set
          email = coalesce(nullif(${email}, ''), u.email),
          email_verified = ${isVerified(known, user)},
          name = coalesce(nullif(${name}, ''), u.name),
          first_role = coalesce(nullif(${role}, ''), u.first_role),
          last_seen_at = greatest(u.last_seen_at, now())
        from before b
        where u.org_id = b.org_id and u.user_id = b.user_id
        returning u.*, b.role as role_before
      ), changed as (
        select org_id, user_id, role_before, coalesce(given_role, first_role) as role from kept
        where role_before <> coalesce(given_role, first_role)
      ), audited as (
        ${auditRow(
          sql,
          { doer, action: 'member.role', targetKind: 'member' },
          {
            source: 'changed',
            targetId: sql`user_id`,
            before: sql`jsonb_build_object('role', role_before)`,
            after: sql`jsonb_build_object('role', role)`,
          },
        )}
      )
      select ${memberColumns(sql)}, exists (select from changed) as role_changed
      from kept u join registry.organizations o on o.org_id = u.org_id`);
    assert(row !== undefined, 'users are not deleted');
    return { member: toMember(row), roleChanged: row.role_changed };
  }

  /** Newest first. */
  async list(orgId: OrgId, { below, limit }: PageRequest): Promise<Page<Member>> {
    const rows = await query(
      this.reader.read(
        orgId,
        (sql) => sql<MemberRow[]>`
          select ${memberColumns(sql)} from registry.users u join registry.organizations o on o.org_id = u.org_id
          where u.org_id = ${orgId} ${below === null ? sql`` : sql`and u.user_id < ${below}`}
          order by u.user_id desc
          limit ${limit + 1}`,
      ),
    );
    return pageOf(rows.map(toMember), limit, ({ userId }) => userId);
  }

  /** Returns all who have access, in no order; null: the organization has more people than `most`. */
  async allOf(orgId: OrgId, most: number): Promise<readonly CountedMember[] | null> {
    const rows = await query(
      this.reader.read(
        orgId,
        (sql) => sql<(CountedMember & { readonly enabled: boolean })[]>`
          select coalesce(u.given_role, u.first_role) as role,
            case when u.email_verified then lower(u.email) else '' end as email, u.disabled_at is null as enabled
          from registry.users u
          where u.org_id = ${orgId}
          order by u.user_id
          limit ${most + 1}`,
      ),
    );
    return rows.length > most ? null : rows.filter(({ enabled }) => enabled);
  }

  /**
   * Takes precedence over any role that the issuer claims from then on. @throws ServiceError not_found; invalid_request
   * with the finding `last_admin` when no one else is an admin.
   */
  async setRole(change: MemberChange & { readonly role: Role }): Promise<Member> {
    const { orgId, userId, role, doer } = change;
    const { sql } = this;
    // A missing member is refused without a lock, which would be a write.
    await this.find(orgId, userId);
    // One change of roles in an organization at a time, so that of two admins who demote each other the second sees
    // that no other is left.
    const changing = sql.begin(async (tx) => {
      await tx`select from registry.organizations where org_id = ${orgId} for no key update`;
      return await tx`
        with known as (
          select org_id, user_id, coalesce(given_role, first_role) as role from registry.users
          where org_id = ${orgId} and user_id = ${userId} and disabled_at is null
        ), changed as (
          update registry.users u set given_role = ${role}
          from known k
          where u.org_id = k.org_id and u.user_id = k.user_id and u.given_role is distinct from ${role}
            and (${role} = 'admin' or k.role <> 'admin'
              or exists (
                select from registry.users o
                where o.org_id = ${orgId} and o.user_id <> ${userId} and coalesce(o.given_role, o.first_role) = 'admin'
                  and o.disabled_at is null
              ))
          returning u.org_id, u.user_id, k.role as role_before
        ), audited as (
          ${auditRow(
            tx,
            { doer, action: 'member.role', targetKind: 'member' },
            {
              source: 'changed',
              targetId: tx`user_id`,
              before: tx`jsonb_build_object('role', role_before)`,
              after: tx`jsonb_build_object('role', ${role}::text)`,
            },
          )}
        )
        select from changed`;
    });
    const changed = await query(changing);
    const member = await this.find(orgId, userId);
    if (member.disabledAt !== null) throw new ServiceError('not_found', 'There is no such member.');
    if (changed.length === 0 && member.role !== role) throw lastAdmin();
    return member;
  }

  /**
   * Ends their access permanently; a repeat changes nothing. @throws ServiceError not_found; invalid_request with the
   * finding `last_admin` when no one else is an admin.
   */
  async disable({ orgId, userId, doer }: MemberChange): Promise<Member> {
    const { sql } = this;
    await this.find(orgId, userId);
    // Like a change of roles: of two admins who end each other's access, the second one is refused.
    const disabling = sql.begin(async (tx) => {
      await tx`select from registry.organizations where org_id = ${orgId} for no key update`;
      await tx`
        with disabled as (
          update registry.users u set disabled_at = now()
          where u.org_id = ${orgId} and u.user_id = ${userId} and u.disabled_at is null
            and (coalesce(u.given_role, u.first_role) <> 'admin'
              or exists (
                select from registry.users o
                where o.org_id = ${orgId} and o.user_id <> ${userId} and coalesce(o.given_role, o.first_role) = 'admin'
                  and o.disabled_at is null
              ))
          returning u.org_id, u.user_id, coalesce(u.given_role, u.first_role) as role
        )
        ${auditRow(
          tx,
          { doer, action: 'member.disable', targetKind: 'member' },
          { source: 'disabled', targetId: tx`user_id`, before: tx`jsonb_build_object('role', role)`, after: tx`null` },
        )}`;
    });
    await query(disabling);
    const member = await this.find(orgId, userId);
    if (member.disabledAt === null) throw lastAdmin();
    return member;
  }

  /** @throws ServiceError not_found */
  async find(orgId: OrgId, userId: UserId): Promise<Member> {
    const [row] = await query(
      this.reader.read(
        orgId,
        (sql) => sql<MemberRow[]>`
          select ${memberColumns(sql)} from registry.users u join registry.organizations o on o.org_id = u.org_id
          where u.org_id = ${orgId} and u.user_id = ${userId}`,
      ),
    );
    if (row === undefined) throw new ServiceError('not_found', 'There is no such member.');
    return toMember(row);
  }
}

/** The last use is accurate to five minutes. */
function isUpToDate(row: KnownRow, user: ClaimedUser): boolean {
  const kept = (claimed: string, known: string) => claimed === '' || claimed === known;
  const same = kept(user.email, row.email) && kept(user.name, row.name) && kept(user.role, row.first_role);
  return same && row.seen_lately && isVerified(row, user) === row.email_verified;
}

/** Some tokens have the address and not whether it is verified: then only the known address stays verified. */
function isVerified(row: KnownRow, { email, emailVerified }: ClaimedUser): boolean {
  if (email === '') return row.email_verified;
  return emailVerified ?? (row.email_verified && email.toLowerCase() === row.email.toLowerCase());
}

function lastAdmin(): ServiceError {
  const message = 'The last admin of an organization stays one.';
  return new ServiceError('invalid_request', message, {
    findings: [{ path: '/role', code: 'last_admin', message: 'Make another person an admin first.' }],
  });
}
