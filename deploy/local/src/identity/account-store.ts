// The people who signed in, kept so that their refreshed tokens have the same claims.
import type { Sql } from '@methods/postgres/pool';
import type { Account } from './account.ts';

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
