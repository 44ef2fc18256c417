import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { newId } from '@methods/base/ids';
import { sealed } from '@methods/content/sealed.fixture';
import { RunStatus, StepStatus } from '@methods/proto/run/v1/run_pb';
import { assertRefused } from '../../testing/api.fixture.ts';
import { fileApi } from '../../testing/file-api.fixture.ts';
import { type GatewayFixture, gatewayFixture } from '../../testing/gateway.fixture.ts';

const contentId = () => randomBytes(16).toString('hex');

function deviceStart(gateway: GatewayFixture, more: object = {}) {
  const device = { run_data: 'device', content_id: contentId(), inputs: sealed({ kind: 'inputs' }) };
  return { method: gateway.methodId, ...device, ...more };
}

async function onDevices(gateway: GatewayFixture): Promise<void> {
  gateway.registry.accounts.settings.contentOnDevices = true;
  gateway.settings.onChanged({
    ...{ $typeName: 'methods.event.v1.RegistryChanged', kind: 'settings', orgId: gateway.orgId },
    ...{ id: gateway.orgId, authSha256: '' },
  });
}

test('a run in device mode is started with its envelope as it is, also where content must stay on devices', async () => {
  await using gateway = await gatewayFixture();
  await onDevices(gateway);
  const body = deviceStart(gateway);
  assert.equal((await gateway.ask('POST', '/v1/runs', body)).status, 201);
  const [start] = gateway.book.starts;
  assert.deepEqual(JSON.parse(start?.inputsJson ?? ''), body.inputs);
  assert.deepEqual([start?.contentId, start?.keyId], [body.content_id, gateway.apiKey.keyId]);
  const plain = await gateway.ask('POST', '/v1/runs', { method: gateway.methodId, inputs: { name: 'Ada' } });
  assertRefused(plain, 422, 'device_mode_required');
});

test('the start of a run is shown as it was sealed, and not that of an account run', async () => {
  await using gateway = await gatewayFixture();
  const body = deviceStart(gateway, { metadata: { order: '7' }, answer_by: 'application' });
  const { run_id: runId, version_id: versionId } = (await gateway.ask('POST', '/v1/runs', body)).body;
  const shown = await gateway.ask('GET', `/v1/runs/${runId}/start`);
  assert.deepEqual(shown.body, {
    ...{ run_id: runId, method: `wf_${gateway.methodId}`, version_id: versionId, metadata: { order: '7' } },
    ...{ content_id: body.content_id, answer_by: 'application', inputs: body.inputs },
  });
  const plain = await gateway.ask('POST', '/v1/runs', { method: gateway.methodId, inputs: { name: 'Ada' } });
  assertRefused(await gateway.ask('GET', `/v1/runs/${plain.body.run_id}/start`), 404, 'not_found');
  assertRefused(await gateway.ask('GET', `/v1/runs/${newId('run')}/start`), 404, 'not_found');
});

test('a batch starts both kinds of runs, each judged by itself', async () => {
  await using gateway = await gatewayFixture();
  const runs = [
    deviceStart(gateway),
    { method: gateway.methodId, inputs: { name: 'Ada' } },
    deviceStart(gateway, { inputs: { name: 'Ada' } }),
  ];
  const { body } = await gateway.ask('POST', '/v1/runs/batch', { runs });
  assert.deepEqual(
    body.items.map(({ status }: { status: number }) => status),
    [201, 201, 422],
  );
});

test('the same key and plain inputs get the same run, with another envelope and content id', async () => {
  await using gateway = await gatewayFixture();
  const digest = 'ab'.repeat(32);
  const start = (more: object = {}) =>
    gateway.ask(
      'POST',
      '/v1/runs',
      deviceStart(gateway, { idempotency_key: 'order-0001', inputs: sealed({ kind: 'inputs', digest }), ...more }),
    );
  const first = await start();
  const again = await start();
  assert.deepEqual([first.status, again.status, again.body.run_id], [201, 200, first.body.run_id]);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assertRefused(await start({ inputs: sealed({ kind: 'inputs' }) }), 409, 'idempotency_conflict');
  assertRefused(await start({ metadata: { order: '8' } }), 409, 'idempotency_conflict');
  const plain = { run_data: undefined, content_id: undefined, inputs: { name: 'Ada' } };
  assertRefused(await start(plain), 409, 'idempotency_conflict');
});

test('without a key the content id is the key: the same start again gets its run', async () => {
  await using gateway = await gatewayFixture();
  const body = deviceStart(gateway);
  const first = await gateway.ask('POST', '/v1/runs', body);
  const again = await gateway.ask('POST', '/v1/runs', body);
  assert.deepEqual([first.status, again.status, again.body.run_id], [201, 200, first.body.run_id]);
  const other = { ...body, inputs: sealed({ kind: 'inputs' }) };
  assertRefused(await gateway.ask('POST', '/v1/runs', other), 409, 'idempotency_conflict');
});

test('a malformed start in device mode is refused by what is wrong with it', async () => {
  await using gateway = await gatewayFixture();
  const { $sealed: text } = sealed({ kind: 'inputs' });
  const damaged = [
    undefined,
    {},
    { name: 'Ada' },
    { $sealed: text, name: 'Ada' },
    { $sealed: 7 },
    { $sealed: '' },
    { $sealed: `${text}*` },
    { $sealed: text.slice(0, 100) },
    { $sealed: `Ag${text.slice(2)}` },
    sealed({ kind: 'answer' }),
  ];
  for (const inputs of damaged) {
    const reply = await gateway.ask('POST', '/v1/runs', deviceStart(gateway, { inputs }));
    assertRefused(reply, 422, 'invalid_inputs', 'sealed_value_damaged');
  }
  for (const id of [undefined, 'A'.repeat(32), '0'.repeat(31), '', 7]) {
    const reply = await gateway.ask('POST', '/v1/runs', deviceStart(gateway, { content_id: id }));
    assertRefused(reply, 400, 'invalid_request');
  }
  const account = deviceStart(gateway, { run_data: 'account', inputs: { name: 'Ada' } });
  assertRefused(await gateway.ask('POST', '/v1/runs', account), 400, 'invalid_request', 'content_id');
  assert.equal(gateway.book.starts.length, 0);
});

test('the bound on inputs counts plain bytes', async () => {
  await using gateway = await gatewayFixture();
  const start = (plainBytes: number) =>
    gateway.ask('POST', '/v1/runs', deviceStart(gateway, { inputs: sealed({ kind: 'inputs', plainBytes }) }));
  assert.equal((await start(256 * 1024)).status, 201);
  assertRefused(await start(256 * 1024 + 1_024), 413, 'too_large', 'inputs_bytes');
});

test('rules about who answers are refused, since the service cannot apply them to sealed answers', async () => {
  await using gateway = await gatewayFixture();
  const { methodId: method } = gateway.registry.method(
    gateway.orgId,
    'format: method/2\nname: pay\nsteps:\n  - name: ok\n    ask: { question: Pay?, to: [admin] }\n    out: { ok: boolean }\n',
  );
  const reply = await gateway.ask('POST', '/v1/runs', deviceStart(gateway, { method }));
  assertRefused(reply, 422, 'device_mode_unsupported');
  assert.equal((await gateway.ask('POST', '/v1/runs', { method })).status, 201);
});

test('a run in device mode is shown without content; what is sealed is shown sealed', async () => {
  await using gateway = await gatewayFixture();
  const body = deviceStart(gateway);
  const runId = (await gateway.ask('POST', '/v1/runs', body)).body.run_id;
  const envelope = Buffer.from(body.inputs.$sealed, 'base64url');
  const run = gateway.book.ask(runId);
  assert.ok(run.question);
  Object.assign(run.question, { prompt: '', show: [], formJson: '', sealed: envelope });
  const shown = async () => (await gateway.ask('GET', `/v1/runs/${runId}`)).body;
  const waiting = await shown();
  assert.deepEqual([waiting.run_data, waiting.content_id], ['device', body.content_id]);
  assert.deepEqual(Object.keys(waiting.question), ['id', 'step', 'sealed', 'asked_at', 'deadline_at']);
  assert.deepEqual(waiting.question.sealed, body.inputs);

  const check = { name: 'Paid', phase: 'ensure', status: 'failed', message: JSON.stringify(body.inputs) };
  const failed = {
    ...{ $typeName: 'methods.run.v1.StepView' as const, path: 'greet', kind: 'node', status: StepStatus.FAILED },
    ...{ attempt: 1, startedAtMs: 1, finishedAtMs: 2, runningMs: 1, waitingMs: 0 },
    checks: [{ $typeName: 'methods.run.v1.StepCheck' as const, ...check }],
  };
  const error = { code: 'no_answer', kind: 'timeout', message: 'No answer within 3d', step: 'approve' };
  const runError = { $typeName: 'methods.run.v1.RunError' as const, ...error };
  gateway.book.change(runId, { status: RunStatus.FAILED, steps: [failed], error: runError });
  const ended = await shown();
  assert.deepEqual(ended.steps[0].checks, [{ ...check, message: '', sealed: body.inputs }]);
  assert.deepEqual(ended.error, error, 'what the service wrote is plain');

  const other = (await gateway.ask('POST', '/v1/runs', deviceStart(gateway))).body.run_id;
  gateway.book.succeed(other, '');
  const { result, result_at } = (await gateway.ask('GET', `/v1/runs/${other}`)).body;
  assert.deepEqual([result, result_at], [undefined, 'worker']);
});

test('the service cannot run it again: only a program with the content key can', async () => {
  await using gateway = await gatewayFixture();
  const runId = (await gateway.ask('POST', '/v1/runs', deviceStart(gateway))).body.run_id;
  gateway.book.succeed(runId, '');
  assertRefused(await gateway.ask('POST', `/v1/runs/${runId}/rerun`), 422, 'device_mode_required');
});

const { admin, member } = fileApi();

test('a person has no content key to start such a run with, and no record of a local run is kept', async () => {
  const inputs = sealed({ kind: 'inputs' });
  const body = { method: newId('run'), run_data: 'device', content_id: contentId(), inputs };
  assertRefused(await member('POST', '/v1/runs', body), 422, 'device_key_required');
  assertRefused(await member('POST', '/api/runs', body), 422, 'device_key_required');
  await admin('PATCH', '/api/settings', { content_on_devices: true });
  const record = { workflow_id: 'wf_x', version_id: newId('ver'), sequence: 1, inspection: {} };
  assertRefused(await member('PUT', `/api/cli/runs/${newId('run')}`, record), 422, 'device_mode_required');
  await admin('PATCH', '/api/settings', { content_on_devices: false });
});
