// The routes of deliveries in front of a notifier that records its calls.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type DeliveryId, newId, newRunId } from '@methods/base/ids';
import { silentLogger } from '@methods/logging/logger';
import { NotifierService } from '@methods/proto/notifier/v1/notifier_service_pb';
import { RpcServer } from '@methods/rpc/server';
import { type ApiFixture, type Asking, assertRefused, commonRegistryApi } from '../../testing/api.fixture.ts';

const DELIVERY = {
  deliveryId: newId('dlv'),
  runId: newRunId(0),
  seq: 3,
  event: 'failed',
  kind: 'webhook',
  url: 'https://hook.example/in?token=hidden',
  endpointId: '' as const,
  status: 'exhausted',
  createdAtMs: 1_760_000_000_000,
  nextTryAtMs: 0,
  triesCount: 2,
  tries: [
    { startedAtMs: 1_760_000_001_000, durationMs: 12, httpStatus: 500, error: '', answerStart: 'no' },
    { startedAtMs: 1_760_000_009_000, durationMs: 10_000, httpStatus: 0, error: 'timeout', answerStart: '' },
  ],
};

const asked: { call: string; request: Record<string, unknown> }[] = [];
let resent: DeliveryId[] = [];
const heard =
  <Reply>(call: string, reply: () => Reply) =>
  (request: object) => {
    asked.push({ call, request: { ...request } });
    return Promise.resolve(reply());
  };
const notifier = new RpcServer({
  listen: '127.0.0.1:0',
  services: [
    [
      NotifierService,
      {
        listDeliveries: heard('list', () => ({ deliveries: [DELIVERY], nextCursor: DELIVERY.deliveryId })),
        getDelivery: heard('get', () => ({
          delivery: { ...DELIVERY, url: '', kind: 'slack', endpointId: newId('ep') },
        })),
        resendDelivery: heard('resend', () => ({ delivery: { ...DELIVERY, status: 'pending' } })),
        resendDeliveries: heard('resend many', () => ({ deliveryIds: resent, nextCursor: '' })),
      },
    ],
  ],
  logger: silentLogger,
  graceMs: 100,
});
let api: ApiFixture;
let admin: Asking;
let member: Asking;
let viewer: Asking;

before(async () => {
  await notifier.start();
  api = await commonRegistryApi({ notifierAddress: `127.0.0.1:${notifier.port}` });
  admin = await api.person('admin');
  member = await api.person('member');
  viewer = await api.person('viewer');
});
after(async () => {
  await api?.[Symbol.asyncDispose]();
  await notifier.stop();
});

test('a list passes on its filters and shows every try, and the URL without its query', async () => {
  const endpointId = newId('ep');
  const query = `status=exhausted&kind=webhook&endpoint=${endpointId}&run=${DELIVERY.runId}&limit=7`;
  const { status, body } = await viewer('GET', `/api/deliveries?${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  const { orgId, limit, ...filter } = asked.at(-1)?.request ?? {};
  assert.match(String(orgId), /^org_/);
  assert.equal(limit, 7);
  for (const [name, value] of Object.entries({
    status: 'exhausted',
    kind: 'webhook',
    endpointId,
    runId: DELIVERY.runId,
  }))
    assert.equal(filter[name], value);
  assert.deepEqual(body, {
    items: [
      {
        id: DELIVERY.deliveryId,
        run_id: DELIVERY.runId,
        seq: 3,
        event: 'failed',
        kind: 'webhook',
        url: 'https://hook.example/in?…',
        status: 'exhausted',
        created_at: '2025-10-09T08:53:20.000Z',
        next_try_at: null,
        tries_count: 2,
        tries: [
          { at: '2025-10-09T08:53:21.000Z', duration_ms: 12, status: 500, error: null, reply: 'no' },
          { at: '2025-10-09T08:53:29.000Z', duration_ms: 10_000, status: null, error: 'timeout', reply: '' },
        ],
      },
    ],
    next_cursor: DELIVERY.deliveryId,
  });
});

test('an unknown filter is refused, and an id of another kind finds nothing without a call', async () => {
  const before = asked.length;
  for (const query of ['status=lost', 'kind=letter', 'limit=201', 'until=now', 'limit=x'])
    assertRefused(await viewer('GET', `/api/deliveries?${query}`), 400, 'invalid_request');
  for (const query of ['endpoint=ep_1', `run=${DELIVERY.deliveryId}`]) {
    const { body } = await viewer('GET', `/api/deliveries?${query}`);
    assert.deepEqual(body, { items: [], next_cursor: null });
  }
  assertRefused(await viewer('GET', '/api/deliveries/dlv_1'), 404, 'not_found');
  assert.equal(asked.length, before);
});

test('a delivery to an endpoint names it and has no URL', async () => {
  const { body } = await viewer('GET', `/api/deliveries/${DELIVERY.deliveryId}`);
  assert.equal(body.delivery.url, undefined);
  assert.match(body.delivery.endpoint_id, /^ep_/);
});

test('sending again is recorded in the audit log, one line for each request', async () => {
  const one = await member('POST', `/api/deliveries/${DELIVERY.deliveryId}/resend`);
  assert.equal(one.body.delivery.status, 'pending');
  resent = [newId('dlv'), newId('dlv')];
  const many = await member('POST', '/api/deliveries/resend', { ids: [...resent, 'run_1', newId('dlv')] });
  assert.deepEqual(many.body, { ids: resent, next_cursor: null });
  assert.equal([asked.at(-1)?.request.deliveryIds].flat().length, 3);
  const all = await member('POST', '/api/deliveries/resend', { status: 'exhausted', kind: 'teams' });
  assert.equal(all.status, 200);
  const { body } = await admin('GET', '/api/audit?action=delivery.resend');
  assert.deepEqual(
    body.items.map(({ target, after }: { target: { id: string }; after: object }) => [target.id, after]),
    [
      [resent[0], { deliveries: '2' }],
      [resent[0], { deliveries: '2' }],
      [DELIVERY.deliveryId, { deliveries: '1' }],
    ],
  );
});

test('a resend without a selection, or by both ids and a filter, is refused', async () => {
  const before = asked.length;
  const id = newId('dlv');
  for (const body of [
    { ids: [] },
    { ids: [id], status: 'exhausted' },
    { status: 'pending' },
    { ids: Array(201).fill(id) },
  ])
    assertRefused(await member('POST', '/api/deliveries/resend', body), 400, 'invalid_request');
  assertRefused(await viewer('POST', '/api/deliveries/resend', { status: 'exhausted' }), 403, 'forbidden');
  assert.deepEqual((await member('POST', '/api/deliveries/resend', { ids: ['dlv_1'] })).body.ids, []);
  assert.equal(asked.length, before);
});

test('without a notifier the routes are unavailable', async () => {
  await using other = await commonRegistryApi();
  assertRefused(await (await other.person('viewer'))('GET', '/api/deliveries'), 503, 'unavailable');
});
