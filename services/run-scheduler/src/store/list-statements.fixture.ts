// Runs each statement of lists and totals of runs once, on the database of a test.
import { newId, newRunId, type OrgId, type ProductionId } from '@methods/base/ids';
import { OrganizationReader, readerRole } from '@methods/postgres/organization-reader';
import type { Sql } from '@methods/postgres/pool';
import { BulkCandidates } from './bulk-candidates.ts';
import { BulkStore } from './bulk-store.ts';
import { QueueList } from './queue-list.ts';
import { ANY_RUN } from './run-filter.ts';
import { RunLists } from './run-lists.ts';
import { RunParts } from './run-parts.ts';
import { RunStatistics } from './run-statistics.ts';
import { RunUsage } from './run-usage.ts';

export async function listStatements(sql: Sql, largeOrg: OrgId, largeMethod: ProductionId): Promise<void> {
  const reader = new OrganizationReader({ sql, role: readerRole('scheduler') });
  await lists(reader, largeOrg, largeMethod);
  await usage(reader, largeOrg, largeMethod);
  await reads(reader, largeOrg);
}

async function lists(reader: OrganizationReader, orgId: OrgId, method: ProductionId): Promise<void> {
  const all = new RunLists({ reader, deadlineMs: 60_000 });
  const selection = {
    orgId,
    after: null,
    limit: 50,
    ...ANY_RUN,
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
    { versionId: 'ver_a' as const, startedBy: 'key_a' },
    { startedBy: 'usr_a', text: 'no one' },
    { rerunOf: newRunId(0) },
    { rerunOf: newRunId(0), statuses: ['failed'] as const, after: first.next },
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

async function reads(reader: OrganizationReader, orgId: OrgId): Promise<void> {
  const options = { reader, deadlineMs: 60_000 };
  const statistics = new RunStatistics({ ...options, countedMax: 5_000, lookedAtMax: 5_000 });
  const range = { ...ANY_RUN, orgId, after: null, createdAfterMs: 1, createdBeforeMs: Date.now() };
  await statistics.count({ ...range, bucketMs: Math.ceil(Date.now() / 100) });
  await statistics.failed(range);
  const queues = new QueueList(options);
  await queues.all(orgId);
  const page = await new RunLists(options).page({ ...range, statuses: ['queued'], limit: 1 });
  const [run] = (await new RunLists(options).page({ ...range, statuses: ['succeeded'], limit: 1 })).runs;
  await queues.place(orgId, page.runs[0]?.facts.runId ?? 'run_none');
  const runId = run?.facts.runId ?? 'run_none';
  const candidates = new BulkCandidates(options);
  await candidates.matching(range);
  await candidates.named(orgId, [runId]);
  const parts = new RunParts(options);
  await parts.sizes(orgId, runId, ['step_1', 'step_2']);
  await parts.questions(orgId, runId, '', 10);
  await parts.questions(orgId, runId, 'q_2', 10);
  for (const of of ['inputs', 'result'] as const)
    await parts.value({ orgId, runId, of, step: '', offset: 0, bytes: 10 });
  for (const of of ['output', 'log'] as const)
    await parts.value({ orgId, runId, of, step: 'step_1', offset: 0, bytes: 10 });
}

/** Prepares changes of many runs, carries one out, and sweeps them. */
export async function bulkStatements(sql: Sql, orgId: OrgId): Promise<void> {
  const store = new BulkStore({ sql, deadlineMs: 60_000 });
  const runIds = Array.from({ length: 500 }, () => newRunId(0));
  const bulk = { orgId, action: 'cancel', byJson: '{}', passedOver: {}, more: false, runIds } as const;
  const address = { orgId, bulkId: newId('bulk') };
  await store.add({ ...bulk, bulkId: address.bulkId });
  await store.countOpen(orgId, 20);
  await store.find(address);
  await store.list(orgId, '', 10);
  await store.move(address, ['prepared'], 'running', '{}');
  await store.idle(10);
  const taken = await store.take(address, 'one', 50);
  await store.report(
    address,
    (taken?.items ?? []).map((item) => ({ ...item, state: 'done' as const })),
  );
  await store.items(address, null, 10, 10);
  await store.items(address, 'done', 10, 10);
  await store.items(address, 'failed', 0, 10);
  const [empty, emptyId] = [{ ...bulk, runIds: [] }, newId('bulk')];
  await store.add({ ...empty, bulkId: emptyId });
  await store.move({ orgId, bulkId: emptyId }, ['prepared'], 'running', null);
  await store.take({ orgId, bulkId: emptyId }, 'one', 50);
  await store.move(address, ['running'], 'stopped', null);
  await store.sweep(2);
}
