import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId, newRunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import {
  BulkAction,
  BulkItemState,
  BulkState,
  type PrepareBulkRequest,
} from '@methods/proto/scheduler/v1/bulk_service_pb';
import { type ApiFixture, type Asking, assertRefused, commonRegistryApi } from '../../testing/api.fixture.ts';
import { RunBook } from '../../testing/run-book.fixture.ts';
import { SchedulerPeer } from '../../testing/scheduler-peer.fixture.ts';

const node = new SchedulerPeer(new RunBook());
const bulkId = newId('bulk');
const [runId, newRun] = [newRunId(0), newRunId(0)];
const asked: PrepareBulkRequest[] = [];
let state = BulkState.PREPARED;
let startedBy: string | undefined;
let api: ApiFixture;
let member: Asking;
let viewer: Asking;

const bulk = () => ({
  ...{ bulkId, action: BulkAction.CANCEL, state, createdAtMs: 1_000, total: 5, done: 2, failed: 1 },
  passedOver: [{ reason: 'finished', count: 3 }],
  ...(asked[0]?.by && { by: asked[0].by }),
});

before(async () => {
  await node.start();
  api = await commonRegistryApi({ runSchedulerAddresses: [node.address] });
  const ada = { sub: 'ada', name: 'Ada', email: 'ada@acme.example', email_verified: true };
  [member, viewer] = await Promise.all([api.person('member', 'acme', ada), api.person('viewer')]);
  for (const person of [member, viewer]) await person('GET', '/api/whoami');
  const known = (id: string) => {
    if (id !== bulkId) throw new ServiceError('not_found');
  };
  node.bulk.answer({
    prepareBulk: async (request) => {
      asked.push(request);
      return { bulk: bulk() };
    },
    getBulk: async (request) => {
      known(request.bulkId);
      return { bulk: bulk() };
    },
    startBulk: async ({ by }) => {
      startedBy = by?.name;
      state = BulkState.DONE;
      return { bulk: bulk() };
    },
    stopBulk: async () => {
      state = BulkState.STOPPED;
      return { bulk: bulk() };
    },
    listBulks: async () => ({ bulks: [bulk()], nextCursor: bulkId }),
    listBulkItems: async ({ state: of }) => ({
      items: [
        { runId, state: of, position: 1, reason: 'run_finished' },
        { runId, state: BulkItemState.DONE, newRunId: newRun },
      ],
    }),
  });
});
after(async () => {
  await api[Symbol.asyncDispose]();
  await node.stop();
});

test('a change is prepared for a filter or for named runs, in the name of the caller', async () => {
  const filter = { status: 'queued', text: 'x', metadata: { order: '7' }, created_before: '2026-01-31T00:00:00Z' };
  const { status, body } = await member('POST', '/api/bulk', { action: 'rerun', filter });
  assert.equal(status, 201, JSON.stringify(body));
  assert.deepEqual(body.bulk.counts, { total: 5, todo: 2, done: 2, failed: 1 });
  assert.deepEqual([body.bulk.state, body.bulk.passed_over], ['prepared', [{ reason: 'finished', count: 3 }]]);
  assert.deepEqual([body.bulk.by.kind, body.bulk.by.name, body.bulk.started_at], ['user', 'Ada', null]);
  const [first] = asked;
  assert.deepEqual([first?.action, first?.by?.name, first?.runs?.metadata], [BulkAction.RERUN, 'Ada', { order: '7' }]);
  assert.equal(first?.runs?.createdBeforeMs, Date.parse('2026-01-31T00:00:00Z'));
  await member('POST', '/api/bulk', { action: 'cancel', run_ids: [runId, 'key_1'] });
  assert.deepEqual(asked.at(-1)?.runIds, [runId, 'run_none'], 'an id of another kind names no run');
});

test('a change without runs, with both kinds or with unknown fields is refused, and so is a viewer', async () => {
  for (const more of [{}, { run_ids: [runId], filter: {} }]) {
    assertRefused(await member('POST', '/api/bulk', { action: 'cancel', ...more }), 400, 'invalid_request', 'runs');
  }
  for (const bad of [
    { action: 'delete', filter: {} },
    { action: 'cancel', run_ids: [] },
    { action: 'cancel', filter: { kind: 'x' } },
  ]) {
    assertRefused(await member('POST', '/api/bulk', bad), 400, 'invalid_request');
  }
  assertRefused(await viewer('POST', '/api/bulk', { action: 'cancel', filter: {} }), 403, 'forbidden');
  assertRefused(await viewer('POST', `/api/bulk/${bulkId}/start`), 403, 'forbidden');
  assertRefused(await viewer('POST', `/api/bulk/${bulkId}/stop`), 403, 'forbidden');
});

test('viewers follow a change, its runs and all changes', async () => {
  assert.equal((await viewer('GET', `/api/bulk/${bulkId}`)).body.bulk.id, bulkId);
  const { body: items } = await viewer('GET', `/api/bulk/${bulkId}/items?state=failed`);
  assert.deepEqual(items.items, [
    { run_id: runId, state: 'failed', reason: 'run_finished', new_run_id: null },
    { run_id: runId, state: 'done', reason: null, new_run_id: newRun },
  ]);
  assert.equal((await viewer('GET', '/api/bulk?limit=1')).body.next_cursor, bulkId);
  assertRefused(await viewer('GET', `/api/bulk/${newId('bulk')}`), 404, 'not_found');
  assertRefused(await viewer('GET', '/api/bulk/bulk_1'), 404, 'not_found');
});

test('a change is started and stopped by its id', async () => {
  assert.equal((await member('POST', `/api/bulk/${bulkId}/start`)).body.bulk.state, 'done');
  assert.equal(startedBy, 'Ada');
  assert.equal((await member('POST', `/api/bulk/${bulkId}/stop`)).body.bulk.state, 'stopped');
  assertRefused(await member('POST', `/api/bulk/${bulkId}/stop`, { now: true }), 400, 'invalid_request');
});
