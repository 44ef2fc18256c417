import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { newMethodId, type OrgId } from '@methods/base/ids';
import { explaining, type RowCounts } from '@methods/test/harness/plan-rows';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import { newOrganization, type RunningRegistry, startRegistry } from '../../test/running-registry.fixture.ts';
import { listMethods } from '../store/method-store.ts';

const COUNT = 10_000;
const LIMIT = 50;

let registry: RunningRegistry;
before(async () => {
  registry = await startRegistry();
});
after(() => registry.stop());

async function named(...names: readonly string[]): Promise<OrgId> {
  const { client } = registry;
  const orgId = await newOrganization(client);
  for (const displayName of names) {
    await client.createMethod({
      orgId,
      idempotencyHash: randomBytes(32),
      displayName,
      agentPrompt: 'Do it.',
      doer: TEST_DOER,
    });
  }
  return orgId;
}

/** Returns the names of all pages. */
async function namesOf(orgId: OrgId, { search = '', limit = 0 } = {}): Promise<string[]> {
  const names: string[] = [];
  let cursor = '';
  do {
    const page = await registry.client.listMethods({ orgId, search, limit, cursor });
    names.push(...page.methods.map(({ displayName }) => displayName));
    cursor = page.nextCursor;
  } while (cursor !== '');
  return names;
}

describe('ListMethods', () => {
  test('newest first, page by page', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `Method ${index}`);
    const orgId = await named(...names);
    for (const limit of [0, 1, 3, 7, 200]) deepEqual(await namesOf(orgId, { limit }), names.toReversed());
    const last = await registry.client.listMethods({ orgId, limit: 7 });
    equal(last.nextCursor, '');
  });

  test('a search matches a part of the name in any case, and its special characters literally', async () => {
    const orgId = await named('Refund 100%', 'refund_order', 'REFUND \\ all', 'Überweisung', 'Report');
    deepEqual(await namesOf(orgId, { search: 'refund' }), ['REFUND \\ all', 'refund_order', 'Refund 100%']);
    deepEqual(await namesOf(orgId, { search: '%' }), ['Refund 100%']);
    deepEqual(await namesOf(orgId, { search: '_' }), ['refund_order']);
    deepEqual(await namesOf(orgId, { search: '\\' }), ['REFUND \\ all']);
    deepEqual(await namesOf(orgId, { search: 'übER' }), ['Überweisung']);
    deepEqual(await namesOf(orgId, { search: "' or true --" }), []);
    deepEqual(await namesOf(orgId, { search: 'e', limit: 2 }), await namesOf(orgId, { search: 'e' }));
  });

  test('invalid limits, cursors and searches are refused', async () => {
    const { client } = registry;
    const orgId = await named('One');
    for (const more of [
      { limit: 201 },
      { cursor: 'x' },
      { cursor: Buffer.from("' or true").toString('base64url') },
      { cursor: 'x'.repeat(10_000) },
      { search: 'x'.repeat(201) },
      { search: 'a\0' },
    ]) {
      await rejects(client.listMethods({ orgId, ...more }), { code: 'invalid_request' });
    }
    await rejects(client.listMethods({ orgId: 'org_' }), { code: 'not_found' });
  });

  test('a search reads twenty thousand names a page, and its cursor continues from there', async () => {
    const { client, sql } = registry;
    const orgId = await newOrganization(client);
    const ids = Array.from({ length: 20_001 }, () => newMethodId()).sort();
    await sql`
      insert into registry.methods (org_id, method_id, display_name, created_by)
      select ${orgId}, id, case when id = ${ids[0] ?? ''} then 'the oldest' else 'later' end, 'test'
      from unnest(${ids}::text[]) id`;
    const first = await client.listMethods({ orgId, search: 'oldest' });
    deepEqual(first.methods, []);
    const second = await client.listMethods({ orgId, search: 'oldest', cursor: first.nextCursor });
    deepEqual(second.methods.map(({ methodId }) => methodId).length, 1);
    equal(second.nextCursor, '');
  });

  test('a page of ten thousand methods reads no more than a page, and a search reads each name at most once', async () => {
    const { client, sql } = registry;
    const orgId = await newOrganization(client);
    const ids = Array.from({ length: COUNT }, () => newMethodId()).sort();
    await sql`
      insert into registry.methods (org_id, method_id, display_name, agent_prompt, created_by)
      select ${orgId}, id, 'Method ' || id, repeat('x', 5000), 'test' from unnest(${ids}::text[]) id`;
    await sql`analyze registry.methods`;

    const reads = async (search: string, below: string | null) => {
      const counts: RowCounts[] = [];
      await sql.begin(async (tx) => {
        await tx`select set_config('role', 'registry_reader', true), set_config('methods.org_id', ${orgId}, true)`;
        await listMethods(explaining(tx, counts), { orgId, search, page: { below, limit: LIMIT } }, null);
      });
      equal(counts.length, 1);
      return counts[0] as RowCounts;
    };
    const page = await reads('', ids[5_000] ?? '');
    ok(page.read <= LIMIT + 1 && page.blocks < 600, JSON.stringify(page));
    for (const search of ['no such name', ids[0] ?? '']) {
      const all = await reads(search, null);
      ok(all.read <= COUNT + 1 && all.blocks < COUNT, JSON.stringify(all));
    }
  });
});
