import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '@methods/base/clock';
import { newId, newRunId, type RunId } from '@methods/base/ids';
import { type GatewayFixture, gatewayFixture } from '../../testing/gateway.fixture.ts';

const START = {
  inputs: { name: 'Ada' },
  metadata: { customer: '7' },
  webhook_url: 'https://example.com/hook',
  answer_by: 'team',
};

async function finishedRun(gateway: GatewayFixture): Promise<RunId> {
  const { body } = await gateway.ask('POST', '/v1/runs', { method: gateway.methodId, ...START });
  gateway.book.succeed(body.run_id, '{}');
  return body.run_id;
}

test('a rerun is a new run with the same version, inputs, answerer, metadata and webhook', async () => {
  await using gateway = await gatewayFixture();
  const runId = await finishedRun(gateway);
  const { status, body } = await gateway.ask('POST', `/v1/runs/${runId}/rerun`);
  assert.equal(status, 201);
  assert.deepEqual(body, { run_id: body.run_id, version_id: gateway.versionId, status: 'queued' });
  assert.notEqual(body.run_id, runId);
  const [first, second] = gateway.book.starts;
  assert.ok(first && second);
  assert.notDeepEqual(second.idempotencyHash, first.idempotencyHash);
  assert.deepEqual({ ...second, idempotencyHash: 0 }, { ...first, idempotencyHash: 0, rerunOf: runId });
  assert.equal((await gateway.ask('GET', `/v1/runs/${runId}`)).body.status, 'succeeded');
});

test('a start with other inputs names the run that it repeats; a repeat of it does too', async () => {
  await using gateway = await gatewayFixture();
  const runId = await finishedRun(gateway);
  const start = { method: gateway.methodId, inputs: { name: 'Bob' }, idempotency_key: 'other-0001' };
  const { status, body } = await gateway.ask('POST', '/v1/runs', { ...start, rerun_of: runId });
  assert.equal(status, 201);
  assert.equal(gateway.book.starts.at(-1)?.rerunOf, runId);
  const again = await gateway.ask('POST', '/v1/runs', { ...start, rerun_of: runId });
  assert.deepEqual([again.status, again.body.run_id], [200, body.run_id]);
  const without = await gateway.ask('POST', '/v1/runs', start);
  assert.deepEqual([without.status, without.body.error], [409, 'idempotency_conflict']);
  const ofOther = newRunId(0);
  const elsewhere = gateway.registry.key(newId('org'));
  const headers = { authorization: `Bearer ${elsewhere.key}` };
  for (const [rerun_of, sent] of [
    [ofOther, {}],
    ['run_', {}],
    [runId, headers],
  ] as const) {
    const refused = await gateway.ask('POST', '/v1/runs', { ...start, idempotency_key: 'other-0002', rerun_of }, sent);
    assert.ok(refused.status === 400 || refused.status === 404, `${rerun_of}: ${refused.status}`);
  }
  const refused = await gateway.ask('POST', '/v1/runs', { ...start, idempotency_key: 'other-0003', rerun_of: ofOther });
  assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_request']);
  assert.deepEqual((await gateway.ask('GET', '/v1/runs?rerun_of=none')).body.items, []);
});

test('a rerun belongs to the key that requests it: the key of the first run may have been revoked', async () => {
  await using gateway = await gatewayFixture();
  const runId = await finishedRun(gateway);
  const other = gateway.registry.key(gateway.orgId);
  const headers = { authorization: `Bearer ${other.key}` };
  assert.equal((await gateway.ask('POST', `/v1/runs/${runId}/rerun`, {}, headers)).status, 201);
  const [first, second] = gateway.book.starts;
  assert.equal(first?.keyId, gateway.apiKey.keyId);
  assert.deepEqual([second?.keyId, second?.webhookUrl], [other.keyId, START.webhook_url]);
  assert.deepEqual([first?.starter?.keyId, second?.starter?.keyId], [gateway.apiKey.keyId, other.keyId]);
});

test('without a key every rerun is another run; with one, a repeat returns the same run', async () => {
  await using gateway = await gatewayFixture();
  const runId = await finishedRun(gateway);
  const path = `/v1/runs/${runId}/rerun`;
  const ids = [await gateway.ask('POST', path), await gateway.ask('POST', path, {})].map(({ body }) => body.run_id);
  assert.equal(new Set(ids).size, 2);
  const key = { idempotency_key: 'again-0001' };
  const first = await gateway.ask('POST', path, key);
  const again = await gateway.ask('POST', path, key);
  assert.deepEqual([first.status, again.status], [201, 200]);
  assert.equal(again.body.run_id, first.body.run_id);
  assert.deepEqual(
    [first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')],
    [null, 'true'],
  );
  const other = await gateway.ask('POST', `/v1/runs/${first.body.run_id}/rerun`, key);
  assert.deepEqual([other.status, other.body.error], [409, 'idempotency_conflict']);
  gateway.book.runs.delete(runId);
  const gone = await gateway.ask('POST', path, key);
  assert.deepEqual([gone.status, gone.body.run_id], [200, first.body.run_id]);
  assert.equal((await gateway.ask('POST', path, { idempotency_key: 'again-0002' })).status, 404);
});

test('a rerun of a run whose inputs exceed the present limit is refused', async () => {
  await using gateway = await gatewayFixture();
  const runId = await finishedRun(gateway);
  const [first] = gateway.book.starts;
  assert.ok(first);
  first.inputsJson = JSON.stringify({ name: 'x'.repeat(300_000) });
  const { status, body } = await gateway.ask('POST', `/v1/runs/${runId}/rerun`);
  assert.deepEqual([status, body.error, body.details[0].code], [413, 'too_large', 'inputs_bytes']);
});

test('a rerun with large inputs waits for its turn and rests afterwards, as a start with such a body does', async () => {
  const rests: number[] = [];
  const clock: Clock = {
    ...systemClock,
    after(ms, run) {
      // Schemas are compiled every 100 ms meanwhile, and changes of many runs looked for every 15 s.
      if (ms !== 100 && ms !== 15_000) rests.push(ms);
      return systemClock.after(ms, run);
    },
  };
  await using gateway = await gatewayFixture({ clock });
  const runId = await finishedRun(gateway);
  assert.equal((await gateway.ask('POST', `/v1/runs/${runId}/rerun`)).status, 201);
  assert.deepEqual(rests, []);
  const [first] = gateway.book.starts;
  assert.ok(first);
  first.inputsJson = JSON.stringify({ name: 'x'.repeat(200_000) });
  assert.equal((await gateway.ask('POST', `/v1/runs/${runId}/rerun`)).status, 201);
  assert.equal(rests.length, 1);
  assert.ok(Number(rests[0]) > 7, `${rests[0]} ms`);
});

test('a rerun is refused if its start would be refused today', async () => {
  await using gateway = await gatewayFixture();
  const path = `/v1/runs/${await finishedRun(gateway)}/rerun`;
  const { settings } = gateway.registry.accounts;
  settings.webhookHosts = ['hooks.example.org'];
  gateway.settings.onEventsMissed();
  const elsewhere = await gateway.ask('POST', path);
  assert.deepEqual([elsewhere.status, elsewhere.body.error], [422, 'invalid_webhook_url']);
  settings.contentOnDevices = true;
  gateway.settings.onEventsMissed();
  const onDevices = await gateway.ask('POST', path);
  assert.deepEqual([onDevices.status, onDevices.body.error], [422, 'device_mode_required']);
  assert.equal(gateway.book.starts.length, 1);
});

test('a rerun from a later step keeps the steps before it, and has its own key', async () => {
  await using gateway = await gatewayFixture();
  const runId = await finishedRun(gateway);
  const path = `/v1/runs/${runId}/rerun`;
  const from = (step: string) => gateway.ask('POST', path, { from_step: step, idempotency_key: 'again-0003' });
  assert.equal((await from('approve')).status, 201);
  assert.deepEqual(
    { ...gateway.book.starts.at(-1)?.kept },
    { $typeName: 'methods.scheduler.v1.KeptSteps', runId, steps: ['greet'] },
  );
  assert.equal((await from('approve')).status, 200);
  assert.equal((await from('greet')).body.error, 'idempotency_conflict');
  assert.equal((await gateway.ask('POST', path, { from_step: 'greet' })).status, 201);
  assert.equal(gateway.book.starts.at(-1)?.kept, undefined);
  for (const step of ['aprove', 'greet/inner', '']) {
    const { status, body } = await gateway.ask('POST', path, { from_step: step });
    assert.deepEqual([status, body.details[0].path], [400, '/from_step'], step);
  }
});

test('missing and foreign runs cannot be run again, and other fields are refused', async () => {
  await using gateway = await gatewayFixture();
  const runId = await finishedRun(gateway);
  const foreign = { authorization: `Bearer ${gateway.registry.key(newId('org')).key}` };
  assert.equal((await gateway.ask('POST', `/v1/runs/${runId}/rerun`, {}, foreign)).status, 404);
  assert.equal((await gateway.ask('POST', `/v1/runs/${newRunId(3)}/rerun`)).status, 404);
  assert.equal((await gateway.ask('POST', '/v1/runs/run_1/rerun')).status, 404);
  for (const body of [{ inputs: {} }, { idempotency_key: 'short' }, { idempotency_key: 5 }, []]) {
    assert.equal((await gateway.ask('POST', `/v1/runs/${runId}/rerun`, body)).status, 400, JSON.stringify(body));
  }
  const misspelt = await gateway.ask('POST', `/v1/runs/${runId}/rerun`, { idempotencykey: 'again-0001' });
  assert.match(misspelt.body.message, /idempotency_key/);
});
