// A person at the development provider: an e-mail address in an organization, neither of them verified. People who
// signed in are stored, so that their refreshed tokens have the same claims.
import { createHash } from 'node:crypto';
import type { Sql } from '@methods/postgres/pool';

type AccountRole = 'viewer' | 'member' | 'admin';

export interface Account {
  /** The tokens' `sub`: the same for the same address in the same organization, in every stack. */
  readonly accountId: string;
  readonly email: string;
  readonly name: string;
  readonly orgId: string;
  readonly orgName: string;
  /** null: the service decides. */
  readonly role: AccountRole | null;
}

/** One sentence for the person who typed it. */
export class AccountFault extends Error {
  override readonly name = 'AccountFault';
}

export const ROLES: readonly AccountRole[] = ['viewer', 'member', 'admin'];
const EMAIL_CHARACTERS_MAX = 254;
const ORGANIZATION_CHARACTERS_MAX = 100;

/** @throws AccountFault */
export function accountOf(typed: { email: string; organization: string; role: string }): Account {
  const email = typed.email.trim();
  if (email.length > EMAIL_CHARACTERS_MAX || !/^[^\s@\p{C}]+@[^\s@\p{C}]+$/u.test(email))
    throw new AccountFault('Give an e-mail address, like ada@example.com.');
  const orgName = typed.organization.normalize('NFC').replace(/\s+/g, ' ').trim();
  if (orgName === '' || orgName.length > ORGANIZATION_CHARACTERS_MAX || /\p{C}/u.test(orgName))
    throw new AccountFault(`Give the organization's name, ${ORGANIZATION_CHARACTERS_MAX} characters at most.`);
  const role = typed.role === '' ? null : ROLES.find((known) => known === typed.role);
  if (role === undefined) throw new AccountFault(`A role is one of ${ROLES.join(', ')}.`);
  const orgId = organizationId(orgName);
  return { accountId: accountId(email, orgId), email, name: nameIn(email), orgId, orgName, role };
}

/** The claims of every token of this account. Without a role that claim is missing. */
export function claimsOf(account: Account): Record<string, unknown> {
  return {
    org_id: account.orgId,
    org_name: account.orgName,
    ...(account.role === null ? {} : { role: account.role }),
    email: account.email,
    email_verified: true,
    name: account.name,
  };
}

/**
 * `Local` becomes `local`. A name that is not a plain word gets a dot in its id, so that no other name becomes the
 * same.
 */
function organizationId(name: string): string {
  const plain = name.toLowerCase();
  return /^[a-z0-9][a-z0-9-]{0,62}$/.test(plain) ? plain : `org.${digest(plain).slice(0, 24)}`;
}

function accountId(email: string, orgId: string): string {
  return `dev.${digest(`${email.toLowerCase()}\n${orgId}`).slice(0, 32)}`;
}

/** ada.lovelace@example.com becomes Ada Lovelace. */
function nameIn(email: string): string {
  const words = (email.split('@')[0] ?? '').split(/[._+-]+/).filter((word) => word !== '');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ') || email;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The people who signed in, stored so that their refreshed tokens have the same claims. */
export class AccountStore {
  constructor(private readonly sql: Sql) {}

  async save(account: Account): Promise<void> {
    const { accountId, email, name, orgId, orgName, role } = account;
    await this.sql`
      insert into identity.accounts (account_id, email, name, org_id, org_name, role)
      values (${accountId}, ${email}, ${name}, ${orgId}, ${orgName}, ${role})
      on conflict (account_id) do update
        set email = excluded.email, name = excluded.name, org_name = excluded.org_name, role = excluded.role`;
  }

  async find(accountId: string): Promise<Account | null> {
    const [row] = await this.sql<Account[]>`
      select account_id as "accountId", email, name, org_id as "orgId", org_name as "orgName", role
      from identity.accounts where account_id = ${accountId}`;
    return row ?? null;
  }
}
