// The recipients of mail: enabled members whose address the issuer has verified, and addresses of no member. Read from
// registry.users through the two indexes of those members. Each address is one look-up and each role reads as many
// people as wanted, for an organization of any size.
import type { MethodId, OrgId, UserId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { inject, injectable } from 'tsyringe';
import type { Named, Reason, Recipient } from '../account/recipients.ts';
import { Database, query, Reader } from './registry-database.ts';

/** What a mail says about the organization and the method, and how it must treat content. */
export interface MailFacts {
  readonly orgName: string;
  /** Empty: the method does not exist. */
  readonly methodName: string;
  readonly timeZone: string;
  readonly contentOnDevices: boolean;
}

interface PersonRow {
  readonly user_id: UserId | '';
  readonly email: string;
  readonly name: string;
}

@injectable()
export class RecipientStore {
  constructor(
    @inject(Database) private readonly sql: Database,
    @inject(Reader) private readonly reader: Reader,
  ) {}

  /** @throws ServiceError not_found without the organization. */
  async facts(orgId: OrgId, methodId: MethodId): Promise<MailFacts> {
    const [row] = await query(
      this.reader.read(
        orgId,
        (sql) => sql<
          { org_name: string; method_name: string | null; time_zone: string | null; on_devices: boolean | null }[]
        >`
          select o.name as org_name, m.display_name as method_name, s.time_zone, s.content_on_devices as on_devices
          from registry.organizations o
          left join registry.settings s on s.org_id = o.org_id
          left join registry.methods m on m.org_id = o.org_id and m.method_id = ${methodId}
          where o.org_id = ${orgId}`,
      ),
    );
    if (row === undefined) throw new ServiceError('not_found', 'There is no such organization.');
    return {
      orgName: row.org_name,
      methodName: row.method_name ?? '',
      timeZone: row.time_zone ?? 'UTC',
      contentOnDevices: row.on_devices ?? false,
    };
  }

  /** Returns the people that the question names, each address once; one more than `limit` if there are more. */
  async named(
    orgId: OrgId,
    { addresses, roles }: Named,
    limit: number,
    exceptUserId: UserId | '',
  ): Promise<readonly Recipient[]> {
    // Without the reader: under row security Postgres compares `lower(email)` row by row, without the index.
    const { sql } = this;
    const rows = await query(sql<PersonRow[]>`
          select distinct on (email) user_id, email, name from (
            select p.user_id, p.email, p.name, 0 as place
            from unnest(${[...addresses]}::text[]) a(email) cross join lateral (
              select u.user_id, lower(u.email) as email, u.name from registry.users u
              where u.org_id = ${orgId} and lower(u.email) = a.email and u.email_verified and u.disabled_at is null
              order by u.user_id limit 1) p
            union all
            select p.user_id, p.email, p.name, 1
            from unnest(${[...roles]}::text[]) r(role) cross join lateral (
              select u.user_id, lower(u.email) as email, u.name from registry.users u
              where u.org_id = ${orgId} and coalesce(u.given_role, u.first_role) = r.role and u.email_verified
                and u.disabled_at is null
              order by u.user_id limit ${limit + 2}) p
            union all
            -- Of an address that a member only claims nothing is known: it may be another person's.
            select '', a.email, '', 2 from unnest(${[...addresses]}::text[]) a(email)
            where a.email like '%_@_%' and not exists (
              select from registry.users u where u.org_id = ${orgId} and lower(u.email) = a.email)
          ) people
          where user_id = '' or user_id <> ${exceptUserId}
          order by email, place, user_id limit ${limit + 1}`);
    return rows.map(recipient('named'));
  }

  /** Returns the person of the method's latest publication; null when it was a key, or they get no mail. */
  async publisher(orgId: OrgId, methodId: MethodId): Promise<Recipient | null> {
    const rows = await query(
      this.reader.read(
        orgId,
        (sql) => sql<PersonRow[]>`
          select u.user_id, lower(u.email) as email, u.name
          from (
            select published_by from registry.publications where org_id = ${orgId} and method_id = ${methodId}
            order by publication_id desc limit 1
          ) p cross join lateral (
            select user_id, email, name from registry.users
            where org_id = ${orgId} and user_id = p.published_by and email_verified and disabled_at is null limit 1
          ) u`,
      ),
    );
    return rows.map(recipient('publisher'))[0] ?? null;
  }

  /** As `named`. */
  async admins(orgId: OrgId, limit: number, exceptUserId: UserId | ''): Promise<readonly Recipient[]> {
    const people = await this.named(orgId, { addresses: [], roles: ['admin'] }, limit, exceptUserId);
    return people.map((person) => ({ ...person, reason: 'admin' }));
  }
}

function recipient(reason: Reason) {
  return (row: PersonRow): Recipient => ({ userId: row.user_id, email: row.email, name: row.name, reason });
}
