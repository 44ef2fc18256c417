// Runs each statement of lists and totals of runs once, on the database of a test.
import type { OrgId, ProductionId } from '@methods/base/ids';
import { OrganizationReader, readerRole } from '@methods/postgres/organization-reader';
import type { Sql } from '@methods/postgres/pool';
import { RunLists } from './run-lists.ts';
import { RunUsage } from './run-usage.ts';

export async function listStatements(sql: Sql, largeOrg: OrgId, largeMethod: ProductionId): Promise<void> {
  const reader = new OrganizationReader({ sql, role: readerRole('scheduler') });
  await lists(reader, largeOrg, largeMethod);
  await usage(reader, largeOrg, largeMethod);
}

async function lists(reader: OrganizationReader, orgId: OrgId, method: ProductionId): Promise<void> {
  const all = new RunLists({ reader, deadlineMs: 60_000 });
  const selection = {
    orgId,
    after: null,
    limit: 50,
    statuses: [],
    method: '',
    metadata: {},
    createdAfterMs: null,
    createdBeforeMs: null,
  } as const;
  const first = await all.page(selection);
  for (const more of [
    { after: first.next },
    { orgId: 'org_7' as const },
    { createdAfterMs: Date.now() - 9_000_000, createdBeforeMs: Date.now() - 8_999_000 },
    { statuses: ['running'] as const },
    { method, statuses: ['succeeded', 'failed'] as const },
    { metadata: { n: '7' } },
    { metadata: { n: 'none' }, after: first.next },
  ]) {
    await all.page({ ...selection, ...more });
  }
}

async function usage(reader: OrganizationReader, orgId: OrgId, method: ProductionId): Promise<void> {
  const sums = new RunUsage({ reader, deadlineMs: 60_000 });
  const range = { orgId, method: '' as const, after: null, createdAfterMs: 0, createdBeforeMs: Date.now() };
  const { next } = await sums.page(range);
  await sums.page({ ...range, after: next, method });
  await sums.page({ ...range, orgId: 'org_7' });
}
