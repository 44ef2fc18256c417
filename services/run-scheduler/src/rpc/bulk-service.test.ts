import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { newId, newRunId, type OrgId, type RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { OrganizationReader, readerRole } from '@methods/postgres/organization-reader';
import { ActorSchema } from '@methods/proto/run/v1/run_pb';
import {
  BulkAction,
  BulkItemState,
  BulkState,
  PrepareBulkRequestSchema,
  PrepareBulkResponseSchema,
  ReportBulkItemsRequestSchema,
} from '@methods/proto/scheduler/v1/bulk_service_pb';
import { ListRunsSchema } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { decoder, encoder } from '@methods/rpc/message-codec';
import { BulkCandidates } from '../store/bulk-candidates.ts';
import { BulkStore } from '../store/bulk-store.ts';
import { TestStore } from '../store/run-store.fixture.ts';
import { BulkRpc } from './bulk-service.ts';

const FIRST_MS = 1_700_000_000_000;
const RUNS = 12_000;
const by = create(ActorSchema, { personId: 'usr_ada', name: 'Ada' });
let db: TestStore;
let rpc: BulkRpc;
let orgs = 0;

before(async () => {
  db = await TestStore.open();
  const reader = new OrganizationReader({ sql: db.sql, role: readerRole('scheduler') });
  rpc = new BulkRpc({
    store: new BulkStore({ sql: db.sql, deadlineMs: 60_000 }),
    candidates: new BulkCandidates({ reader, deadlineMs: 60_000 }),
    turns: { run: (_, work) => work() },
  });
});
after(() => db.close());

/** Ten states in turn: four that succeeded, two that failed (one with a webhook), one on a device, three open. */
async function organizationWith(count: number): Promise<{ orgId: OrgId; runIds: RunId[] }> {
  const orgId = newId('org', FIRST_MS + orgs++);
  const numbers = Array.from({ length: count }, (_, i) => i);
  const runIds = numbers.map((i) => newRunId(0, FIRST_MS + i));
  await db.sql`
    insert into scheduler.runs (run_id, org_id, shard, revision, method, version_id, inputs_json, idempotency_hash,
      request_digest, key_id, answer_by, created_at_ms, max_attempts, needs, status, state_since_ms, queued_ms, running_ms,
      waiting_ms, attempts, attempt_open, last_seq, result_json, error_json, webhook_url, content_id, sealed_by)
    select id, ${orgId}, 0, 3, 'wf_1', 'ver_1', '{}', sha256(convert_to(id, 'UTF8')), '', 'key_a', 'team', ${FIRST_MS}::bigint + n, 3,
      '', s, ${FIRST_MS}, 1, 2, 3, 1, true, 1, case s when 'succeeded' then '1' end, case s when 'failed' then '{}' end,
      case n % 10 when 5 then 'https://example.com/' end,
      case n % 10 when 6 then md5(id) end, case n % 10 when 6 then md5(id) end
    from unnest(${runIds}::text[], ${numbers}::int[]) as t(id, n), lateral (
      select case when n % 10 in (4, 5) then 'failed' when n % 10 >= 7 then 'queued' else 'succeeded' end as s) as of`;
  return { orgId, runIds };
}

type Asked = MessageInitShape<typeof PrepareBulkRequestSchema>;
const context = {} as never;

/** As it is sent: what cannot be is found here. */
const sent = (reply: MessageInitShape<typeof PrepareBulkResponseSchema>) =>
  decoder(PrepareBulkResponseSchema)(encoder(PrepareBulkResponseSchema)(reply)).bulk;
const reasons = (bulk: { readonly passedOver: readonly { readonly reason: string; readonly count: number }[] }) =>
  Object.fromEntries(bulk.passedOver.map(({ reason, count }) => [reason, count]));

async function prepared(orgId: OrgId, asked: Asked) {
  const request = create(PrepareBulkRequestSchema, { orgId, by, ip: '203.0.113.7', requestId: 'r', ...asked });
  const bulk = sent(await rpc.handlers.prepareBulk(request, context));
  assert.ok(bulk?.bulkId);
  return { ...bulk, orgId, bulkId: bulk.bulkId };
}
const all = (orgId: OrgId) => create(ListRunsSchema, { orgId });
const take = (address: { orgId: OrgId; bulkId: `bulk_${string}` }, driver = 'one', limit = 200) =>
  rpc.handlers.takeBulkItems({ ...address, driver, limit } as never, context);
const start = ({ orgId, bulkId }: { orgId: OrgId; bulkId: `bulk_${string}` }) =>
  rpc.handlers.startBulk({ orgId, bulkId } as never, context);

test('the runs of a filter are fixed, newest first, and those that are passed over are counted by reason', async () => {
  const { orgId, runIds } = await organizationWith(RUNS);
  const cancel = await prepared(orgId, { action: BulkAction.CANCEL, runs: all(orgId) });
  assert.deepEqual([cancel.total, reasons(cancel), cancel.more], [RUNS * 0.3, { finished: RUNS * 0.7 }, false]);
  const rerun = await prepared(orgId, { action: BulkAction.RERUN, runs: all(orgId) });
  const [tenth, open] = [RUNS / 10, (3 * RUNS) / 10];
  assert.deepEqual([rerun.total, reasons(rerun)], [RUNS / 2, { not_finished: open, webhook: tenth, on_device: tenth }]);
  const failed = await prepared(orgId, { action: BulkAction.RERUN_FAILED_STEP, runs: all(orgId) });
  assert.deepEqual([failed.total, reasons(failed).not_failed], [RUNS / 10, RUNS / 2]);
  const { items = [] } = await rpc.handlers.listBulkItems(
    { ...cancel, state: 0, cursor: '', limit: 2 } as never,
    context,
  );
  assert.deepEqual(
    items.map(({ runId, position }) => [runId, position]),
    [
      [runIds.at(-1), 1],
      [runIds.at(-2), 2],
    ],
  );
});

test('named runs are taken as they are, once each, and those of another organization are not found', async () => {
  const [ours, theirs] = [await organizationWith(10), await organizationWith(1)];
  const runIds = [...ours.runIds, ours.runIds[0] ?? 'run_none', theirs.runIds[0] ?? 'run_none'];
  const bulk = await prepared(ours.orgId, { action: BulkAction.CANCEL, runIds });
  assert.deepEqual([bulk.total, reasons(bulk)], [3, { finished: 7, not_found: 1 }]);
  const foreign = create(ListRunsSchema, { orgId: theirs.orgId });
  await assert.rejects(prepared(ours.orgId, { action: BulkAction.CANCEL, runs: foreign }), { code: 'not_found' });
});

test('a change is carried out by one driver at a time, and another one takes it over later', async () => {
  const { orgId } = await organizationWith(10);
  const bulk = await prepared(orgId, { action: BulkAction.CANCEL, runs: all(orgId) });
  assert.equal((await take(bulk)).items, undefined, 'it is not started');
  assert.equal((await start(bulk)).bulk?.state, BulkState.RUNNING);
  assert.equal((await take(bulk)).items?.length, 3);
  assert.equal((await take(bulk, 'two')).bulk, undefined, 'one has it');
  const idle = async () =>
    (await rpc.handlers.findIdleBulks({ limit: 100 } as never, context)).bulks?.map(({ bulkId }) => bulkId);
  assert.ok(!(await idle())?.includes(bulk.bulkId));
  await db.sql`update scheduler.bulks set driven_until_ms = 0 where bulk_id = ${bulk.bulkId} and org_id = ${orgId}`;
  assert.ok((await idle())?.includes(bulk.bulkId));
  assert.equal((await take(bulk, 'two')).items?.length, 3);
  assert.equal((await take(bulk)).bulk, undefined, 'two has it');
});

test('reports count once, and a change without anything left to do is done', async () => {
  const { orgId } = await organizationWith(10);
  const bulk = await prepared(orgId, { action: BulkAction.CANCEL, runs: all(orgId) });
  await start(bulk);
  const { items = [] } = await take(bulk);
  const report = create(ReportBulkItemsRequestSchema, {
    ...{ orgId, bulkId: bulk.bulkId },
    items: items.map(({ position = 0 }, i) => ({
      position,
      ...(i === 0 ? { state: BulkItemState.FAILED, reason: 'run_finished' } : { state: BulkItemState.DONE }),
    })),
  });
  for (let repeat = 0; repeat < 2; repeat++) await rpc.handlers.reportBulkItems(report, context);
  await take(bulk);
  const { bulk: done } = await rpc.handlers.getBulk({ orgId, bulkId: bulk.bulkId } as never, context);
  assert.deepEqual([done?.state, done?.done, done?.failed, done?.by?.name], [BulkState.DONE, 2, 1, 'Ada']);
  const failed = { orgId, bulkId: bulk.bulkId, state: BulkItemState.FAILED, cursor: '', limit: 10 };
  const { items: left } = await rpc.handlers.listBulkItems(failed as never, context);
  assert.deepEqual(
    left?.map(({ reason }) => reason),
    ['run_finished'],
  );
});

test('a stopped change gives nothing more to do, and does not start again', async () => {
  const { orgId } = await organizationWith(10);
  const bulk = await prepared(orgId, { action: BulkAction.CANCEL, runs: all(orgId) });
  await start(bulk);
  const stop = () => rpc.handlers.stopBulk({ orgId, bulkId: bulk.bulkId } as never, context);
  assert.equal((await stop()).bulk?.state, BulkState.STOPPED);
  assert.equal((await stop()).bulk?.state, BulkState.STOPPED);
  assert.equal((await start(bulk)).bulk?.state, BulkState.STOPPED);
  assert.equal((await take(bulk)).bulk, undefined);
});

test('a change is that of the person who starts it; a repeat and a stop leave it theirs', async () => {
  const { orgId } = await organizationWith(10);
  const { bulkId } = await prepared(orgId, { action: BulkAction.RERUN, runs: all(orgId) });
  const startBy = (personId: string) =>
    rpc.handlers.startBulk(
      { orgId, bulkId, by: create(ActorSchema, { personId }), ip: '', requestId: 's' } as never,
      context,
    );
  await startBy('usr_bea');
  await startBy('usr_cyd');
  const { bulk } = await take({ orgId, bulkId });
  assert.deepEqual([bulk?.by?.personId, bulk?.requestId], ['usr_bea', 's']);
  const stopped = await rpc.handlers.stopBulk({ orgId, bulkId } as never, context);
  assert.equal(stopped.bulk?.by?.personId, 'usr_bea');
});

test('another organization neither sees nor moves a change, and each has its own list', async () => {
  const [ours, theirs] = [await organizationWith(10), await organizationWith(10)];
  const bulk = await prepared(ours.orgId, { action: BulkAction.CANCEL, runs: all(ours.orgId) });
  const foreign = { orgId: theirs.orgId, bulkId: bulk.bulkId, state: 0, cursor: '', limit: 10, driver: 'x' } as never;
  for (const call of ['getBulk', 'startBulk', 'stopBulk', 'listBulkItems'] as const)
    await assert.rejects(async () => rpc.handlers[call](foreign, context), { code: 'not_found' });
  assert.equal((await rpc.handlers.takeBulkItems(foreign, context)).bulk, undefined);
  const list = async (orgId: OrgId, cursor = '') =>
    rpc.handlers.listBulks({ orgId, cursor, limit: 1 } as never, context);
  assert.deepEqual((await list(theirs.orgId)).bulks, []);
  const newer = await prepared(ours.orgId, { action: BulkAction.RERUN, runs: all(ours.orgId) });
  const first = await list(ours.orgId);
  assert.deepEqual(
    first.bulks?.map(({ bulkId }) => bulkId),
    [newer.bulkId],
  );
  assert.deepEqual(
    (await list(ours.orgId, first.nextCursor)).bulks?.map(({ bulkId }) => bulkId),
    [bulk.bulkId],
  );
});

test('an organization prepares a bounded number, and old ones are swept', async () => {
  const { orgId } = await organizationWith(10);
  for (let n = 0; n < 20; n++) await prepared(orgId, { action: BulkAction.CANCEL, runs: all(orgId) });
  const refused = (error: unknown) => error instanceof ServiceError && error.code === 'rate_limited';
  await assert.rejects(prepared(orgId, { action: BulkAction.CANCEL, runs: all(orgId) }), refused);
  await db.sql`update scheduler.bulks set created_at_ms = 5 where org_id = ${orgId}`;
  for (let n = 0; n < 10; n++) await rpc.handlers.findIdleBulks({ limit: 1 } as never, context);
  const left = await db.sql`select bulk_id from scheduler.bulks where org_id = ${orgId}`;
  const items = await db.sql`select position from scheduler.bulk_items where org_id = ${orgId}`;
  assert.deepEqual([left.length, items.length], [0, 0]);
});
