import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId, newRunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { CountRunsRequest, GroupFailuresRequest } from '@methods/proto/scheduler/v1/statistics_service_pb';
import { type ApiFixture, type Asking, assertRefused, commonRegistryApi } from '../../testing/api.fixture.ts';
import { RunBook } from '../../testing/run-book.fixture.ts';
import { SchedulerPeer } from '../../testing/scheduler-peer.fixture.ts';

const METHOD = `wf_${'0'.repeat(26)}` as const;
const node = new SchedulerPeer(new RunBook());
const counts: CountRunsRequest[] = [];
const groups: GroupFailuresRequest[] = [];
let api: ApiFixture;
let viewer: Asking;
let stranger: Asking;

before(async () => {
  await node.start();
  api = await commonRegistryApi({ runSchedulerAddresses: [node.address] });
  [viewer, stranger] = await Promise.all([api.person('viewer'), api.person('viewer', 'others')]);
  for (const person of [viewer, stranger]) await person('GET', '/api/whoami');
  node.statistics.answer({
    countRuns: async (request) => {
      counts.push(request);
      const { createdAfterMs = 0, createdBeforeMs = 0 } = request.runs ?? {};
      const bucketMs = Math.ceil((createdBeforeMs - createdAfterMs - 1) / request.buckets);
      const counted = { succeeded: 3, failed: 1 };
      return {
        bucketMs,
        buckets: [
          { atMs: createdAfterMs + 1 + bucketMs, counts: counted, times: { runningP50Ms: 7.4, firstClaimMaxMs: 9 } },
        ],
        totals: counted,
        times: { runningP50Ms: 7.4, runningP95Ms: 20 },
        methods: [{ method: METHOD, counts: counted }],
        lookedAt: 4,
        searchedToMs: request.runs?.method === METHOD ? 1_700_000_000_000 : 0,
      };
    },
    groupFailures: async (request) => {
      groups.push(request);
      const runIds = [newRunId(0), newRunId(0)];
      const cause = { method: METHOD, step: 'charge', code: 'step_failed', message: 'card # declined' };
      return { groups: [{ ...cause, runIds, newestAtMs: 2_000, oldestAtMs: 1_000 }], matches: 2 };
    },
    listQueues: async () => ({
      queues: [
        { method: METHOD, waiting: 14, oldestQueuedAtMs: 2_000, reason: 'no_worker' },
        { method: METHOD, needs: ['python'], waiting: 1_000, more: true, oldestQueuedAtMs: 1_000, reason: '' },
      ],
    }),
  });
  node.questions.answer({ countQuestions: async () => ({ count: 2, more: false }) });
});
after(async () => {
  await api[Symbol.asyncDispose]();
  await node.stop();
});

test('counts have every bucket of the time, also the empty ones, and say what was looked at', async () => {
  const { status, body } = await viewer('GET', '/api/runs/statistics?last=1h&buckets=60');
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([body.buckets.length, body.bucket_ms, body.looked_at, body.complete], [60, 60_000, 4, true]);
  assert.equal(Date.parse(body.to) - Date.parse(body.from), 3_600_000);
  assert.equal(Date.parse(body.to) % 60_000, 0);
  const [empty, filled] = body.buckets;
  assert.deepEqual([empty.at, empty.succeeded], [body.from, 0]);
  assert.deepEqual(
    [filled.succeeded, filled.failed, filled.running_p50_ms, filled.queued_max_ms, filled.cancelled],
    [3, 1, 7, 9, 0],
  );
  assert.deepEqual([body.totals.succeeded, body.running_ms, body.methods[0].method], [3, { p50: 7, p95: 20 }, METHOD]);
});

test('those who ask the same at the same time share an answer, and other organizations do not', async () => {
  const before = counts.length;
  const path = '/api/runs/statistics?last=7d&buckets=7';
  const replies = await Promise.all([viewer('GET', path), viewer('GET', path), viewer('GET', path)]);
  assert.equal(new Set(replies.map(({ body }) => JSON.stringify(body))).size, 1);
  assert.equal(counts.length, before + 1);
  await stranger('GET', path);
  assert.equal(counts.length, before + 2);
  assert.notEqual(counts.at(-1)?.runs?.orgId, counts.at(-2)?.runs?.orgId);
});

test('a count takes the filter of the list, and says when it did not reach all runs', async () => {
  const version = newId('ver');
  const query = `method=${METHOD}&version=${version}&text=card&metadata.order=7&status=failed&started_by=${newId('usr')}`;
  const times = 'created_after=2026-01-31T00:00:00Z&created_before=2026-01-31T01:00:00Z';
  const { body } = await viewer('GET', `/api/runs/statistics?${query}&${times}&buckets=2`);
  assert.deepEqual([body.complete, body.searched_to], [false, '2023-11-14T22:13:20.000Z']);
  const { runs } = counts.at(-1) ?? {};
  assert.deepEqual(
    [runs?.method, runs?.versionId, runs?.text, runs?.metadata],
    [METHOD, version, 'card', { order: '7' }],
  );
  assert.equal(runs?.createdBeforeMs, Date.parse('2026-01-31T01:00:00Z'));
});

test('times that do not fit are refused, and a filter that nothing matches counts nothing', async () => {
  const after = 'created_after=2026-01-31T00:00:00Z';
  for (const [query, detail] of [
    [`last=1h&${after}`, 'last'],
    ['created_before=2026-01-31T00:00:00Z', 'created_after'],
    [`${after}&created_before=2026-01-30T00:00:00Z`, 'created_before'],
    ['created_after=0001-01-01T00:00:00Z', 'created_after'],
    ['created_after=today', 'time'],
  ]) {
    assertRefused(await viewer('GET', `/api/runs/statistics?${query}`), 400, 'invalid_request', detail);
  }
  for (const query of ['last=2h', 'buckets=0', 'buckets=201', 'text=', 'unknown=1'])
    assertRefused(await viewer('GET', `/api/runs/statistics?${query}`), 400, 'invalid_request');
  const { body } = await viewer('GET', '/api/runs/statistics?method=no-method&buckets=2');
  assert.deepEqual([body.looked_at, body.complete, body.buckets.length], [0, true, 2]);
});

test('failures are grouped by cause, with their runs', async () => {
  const { status, body } = await viewer('GET', `/api/runs/failures?method=${METHOD}`);
  assert.equal(status, 200, JSON.stringify(body));
  const [group] = body.items;
  assert.deepEqual(
    [group.message, group.count, group.run_ids.length, group.newest.run_id],
    [...['card # declined', 2, 2, group.run_ids[0]]],
  );
  assert.deepEqual([body.matches, body.complete], [2, true]);
  assert.equal(groups.at(-1)?.runs?.method, METHOD);
});

test('queues say why their runs wait, and warnings list what needs a hand', async () => {
  const { body: queues } = await viewer('GET', '/api/queues');
  assert.deepEqual(
    queues.items.map(({ reason, needs, waiting, more }: Record<string, unknown>) => [reason, needs, waiting, more]),
    [
      ['no_worker', [], 14, false],
      [null, ['python'], 1_000, true],
    ],
  );
  const { status, body } = await viewer('GET', '/api/warnings');
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(
    body.items.map(({ kind, count }: Record<string, unknown>) => [kind, count]),
    [
      ['no_worker', 14],
      ['questions_due', 2],
    ],
  );
  assert.deepEqual(body.queue, { count: 1_014, more: true, oldest_queued_at: '1970-01-01T00:00:01.000Z' });
  assert.equal(body.complete, true);
});

test('warnings are shown without the part that does not answer, and say so', async () => {
  node.statistics.answer({ listQueues: async () => Promise.reject(new ServiceError('rate_limited')) });
  const { body } = await stranger('GET', '/api/warnings');
  assert.deepEqual([body.items.map(({ kind }: { kind: string }) => kind), body.complete], [['questions_due'], false]);
});
