import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type MethodId, newId, newMethodId, newRunId, type OrgId, type RunId, type VersionId } from '@methods/base/ids';
import type { ServiceError } from '@methods/errors/service-error';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import {
  newMethod,
  newOrganization,
  type RunningRegistry,
  startRegistry,
} from '../../test/running-registry.fixture.ts';

let registry: RunningRegistry;
let orgId: OrgId;
let saved: { methodId: MethodId; versionId: VersionId };
before(async () => {
  registry = await startRegistry();
  orgId = await newOrganization(registry.client);
  saved = await newMethod(registry.client, orgId);
});
after(() => registry.stop());

const inspection = (status: string, note = '') => JSON.stringify({ format: 'inspection/1', status, note });
const put = (runId: RunId, sequence: number, inspectionJson: string, more = {}) =>
  registry.runs.putRunRecord({ orgId, ...saved, runId, sequence, inspectionJson, doer: TEST_DOER, ...more });

function staleAt(sequence: number) {
  return (error: ServiceError) => {
    equal(error.code, 'stale_sequence');
    equal(error.facts.sequence, String(sequence));
    return true;
  };
}

describe('PutRunRecord', { timeout: 300_000 }, () => {
  test('a later record replaces an earlier one', async () => {
    const runId = newRunId(3);
    const first = (await put(runId, 1, inspection('running'))).record;
    equal(first?.status, 'running');
    const { record } = await put(runId, 5, inspection('succeeded'));
    deepEqual([record?.sequence, record?.status], [5, 'succeeded']);
    equal(record?.createdAtMs, first?.createdAtMs);
    const kept = (await registry.runs.getRunRecord({ orgId, runId })).record;
    equal(kept?.inspectionJson, inspection('succeeded'));
    deepEqual([kept?.methodId, kept?.versionId], [saved.methodId, saved.versionId]);
    equal(kept?.createdBy?.kind, 'system');
  });

  test('the same record is a repeat; an earlier one, or the same sequence with other bytes, is stale', async () => {
    const runId = newRunId(3);
    const { record } = await put(runId, 5, inspection('running'));
    deepEqual((await put(runId, 5, inspection('running'))).record, record);
    await rejects(put(runId, 5, inspection('failed')), staleAt(5));
    await rejects(put(runId, 4, inspection('running')), staleAt(5));
    const [count] = await registry.sql`select count(*)::int as n from registry.audit where target_id = ${runId}`;
    equal(count?.n, 1, 'what changed nothing is not in the log');
  });

  test('of 30 simultaneous records the last sequence stays', async () => {
    const runId = newRunId(3);
    await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) => put(runId, index, inspection('running', `${index}`))),
    );
    const { record } = await registry.runs.getRunRecord({ orgId, runId });
    deepEqual([record?.sequence, record?.inspectionJson], [29, inspection('running', '29')]);
  });

  test('the version must be a saved one, and a run keeps it', async () => {
    const runId = newRunId(3);
    const other = await newMethod(registry.client, orgId);
    for (const more of [{ versionId: newId('ver') }, { methodId: newMethodId() }, { versionId: other.versionId }]) {
      await rejects(put(runId, 1, inspection('running'), more), { code: 'not_found' });
    }
    await put(runId, 1, inspection('running'));
    await rejects(put(runId, 2, inspection('running'), other), { code: 'invalid_request' });
    for (const malformed of ['run_', 'x', '']) {
      await rejects(put(malformed as RunId, 1, inspection('running')), { code: 'not_found' });
    }
  });

  test('an inspection is a JSON object of at most 4 MiB; an unknown status is left empty', async () => {
    const runId = newRunId(3);
    for (const text of ['', 'x', '[]', 'null', '"a"', '{"a":']) {
      await rejects(put(runId, 1, text), { code: 'invalid_request' });
    }
    for (const text of ['{}', '{"status":"lost"}', '{"status":7}', '{"__proto__":{"status":"running"}}']) {
      equal((await put(newRunId(3), 1, text)).record?.status, '');
    }
    // A message holds 4 MiB with everything around the inspection.
    const large = JSON.stringify({ status: 'failed', log: 'x'.repeat(4 * 1024 * 1024 - 1024) });
    equal((await put(runId, 1, large)).record?.status, 'failed');
    equal((await registry.runs.getRunRecord({ orgId, runId })).record?.inspectionJson, large);
  });
});

describe('ListRunRecords', () => {
  test('newest first, page by page, of one method or in one status, without inspections', async () => {
    const org = await newOrganization(registry.client);
    const [one, two] = [await newMethod(registry.client, org), await newMethod(registry.client, org)];
    const made: string[] = [];
    for (let i = 0; i < 7; i++) {
      // In shards of any order, since ids do not sort by time.
      const runId = newRunId(1000 - i * 100);
      await put(runId, 1, inspection(i % 3 === 0 ? 'failed' : 'succeeded'), {
        orgId: org,
        ...(i % 2 === 0 ? one : two),
      });
      made.unshift(runId);
    }
    const all = async (more = {}, limit = 3) => {
      const ids: string[] = [];
      let cursor = '';
      do {
        const page = await registry.runs.listRunRecords({ orgId: org, limit, cursor, ...more });
        ok(page.records.length <= limit && page.records.every(({ inspectionJson }) => inspectionJson === ''));
        ids.push(...page.records.map(({ runId }) => runId));
        cursor = page.nextCursor;
      } while (cursor !== '');
      return ids;
    };
    const where = (keep: (index: number) => boolean) => made.filter((_, at) => keep(made.length - 1 - at));
    const times = await registry.sql<{ n: number }[]>`
      select count(distinct created_at)::int as n from registry.local_runs where org_id = ${org}`;
    // Runs of one millisecond are listed in the order of their ids, the others by their creation.
    if (times[0]?.n === 7) deepEqual(await all(), made);
    deepEqual((await all()).toSorted(), made.toSorted());
    deepEqual((await all({ methodId: one.methodId })).toSorted(), where((i) => i % 2 === 0).toSorted());
    deepEqual((await all({ status: 'failed' }, 1)).toSorted(), where((i) => i % 3 === 0).toSorted());
    deepEqual(await all({ status: 'lost' }), []);
    await rejects(registry.runs.listRunRecords({ orgId: org, cursor: 'x' }), { code: 'invalid_request' });
    await rejects(registry.runs.listRunRecords({ orgId: org, limit: 201 }), { code: 'invalid_request' });
  });

  test('a page is read by its index', async () => {
    const plan = await registry.sql.begin(async (tx) => {
      await tx`set local enable_seqscan = off`;
      await tx`set local enable_sort = off`;
      return await tx`explain select * from registry.local_runs
        where org_id = ${orgId} order by created_at desc, run_id desc limit 50`;
    });
    ok(plan.some((row) => String(row['QUERY PLAN']).includes('local_runs_newest')));
  });
});
