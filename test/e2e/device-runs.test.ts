// Runs in device mode, as the service sees them: clients and workers here send envelopes that no one can open.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import type { KeyId } from '@methods/base/ids';
import { envelope, sealed } from '@methods/content/sealed.fixture';
import { ServiceError } from '@methods/errors/service-error';
import { RunStatus } from '@methods/proto/run/v1/run_pb';
import { TEST_DOER } from '../harness/test-doer.ts';
import { until } from '../harness/until.ts';
import type { ApiClient, RunBody } from './api-client.ts';
import { commonStack } from './common-stack.ts';
import { DeviceWorker } from './device-worker.ts';
import type { Stack } from './stack.ts';
import { verifyWebhook, WebhookReceiver } from './webhook-receiver.ts';

interface DeviceRun extends Omit<RunBody, 'question'> {
  readonly content_id: string;
  readonly question?: { readonly id: string; readonly sealed: { readonly $sealed: string } };
}

describe('runs in device mode', () => {
  let stack: Stack;
  let address: string;
  let method: string;
  const receiver = new WebhookReceiver();
  const workers: DeviceWorker[] = [];

  before(async () => {
    stack = await commonStack();
    address = stack.ready.grpc_url;
    method = stack.method('approve');
    await receiver.start();
  });
  after(() => {
    for (const worker of workers) worker.close();
    return receiver.stop();
  });

  /** A new service key, with a content key of its own. */
  async function newKey() {
    const { key, authPart, authSha256 } = createServiceKey();
    const orgId = stack.ready.org_id;
    const made = await stack.registry.createServiceKey({ orgId, name: 'device', authSha256, doer: TEST_DOER });
    const keyId = (made.key?.keyId ?? '') as KeyId;
    const fingerprint = randomBytes(16).toString('hex');
    return { keyId, fingerprint, authPart, secret: made.webhookSecret, api: stack.api.as(key) };
  }

  function worker(of: { readonly authPart: string }, ...keys: { keyId: KeyId; fingerprint: string }[]): DeviceWorker {
    const made = new DeviceWorker(address, of.authPart, [method], keys);
    workers.push(made);
    return made;
  }

  async function started(api: ApiClient, fingerprint: string, more: object = {}): Promise<string> {
    const device = { run_data: 'device', content_id: randomBytes(16).toString('hex') };
    const inputs = sealed({ kind: 'inputs', fingerprint });
    return (await api.start({ method, ...device, inputs, ...more } as never)).run.run_id;
  }

  async function shown(api: ApiClient, runId: string): Promise<DeviceRun> {
    return (await api.request('GET', `/v1/runs/${runId}`)).read<DeviceRun>();
  }

  test('a run goes to a worker with its content key, asks, is answered and ends, all sealed', async () => {
    const key = await newKey();
    const runId = await started(key.api, key.fingerprint, { webhook_url: receiver.url('/device') });
    await until('no worker has its key', async () => (await shown(key.api, runId)).queued_reason === 'key_missing');
    const mine = worker(key, key);
    const first = await mine.granted(1);
    const { run_data, content_id, queued_reason } = await shown(key.api, runId);
    assert.deepEqual([run_data, queued_reason], ['device', undefined]);
    assert.deepEqual([first.runId, first.contentId, first.deviceKeyId], [runId, content_id, key.keyId]);
    assert.deepEqual([mine.welcome?.orgId, mine.welcome?.keyId], [stack.ready.org_id, key.keyId]);

    mine.report('stepRecord', 1, { step: { path: 'order', kind: 'node', status: 5 }, outJson: '{"order":"ord_7"}' });
    await until('plain content is refused', () => mine.refused[0] === 'invalid_request');
    const { fingerprint } = key;
    const asked = envelope({ kind: 'question', fingerprint });
    mine.report('ask', 1, { question: { step: 'approval', sealed: asked }, timeoutMs: 60_000, timeoutText: '1m' });
    const needs = await until('its webhook', () => receiver.to('/device')[0]);
    verifyWebhook(needs, key.secret);
    const { question } = await shown(key.api, runId);
    assert.deepEqual(question?.sealed, { $sealed: asked.toString('base64url') });
    assert.deepEqual(needs.body, { run_id: runId, status: 'waiting', question });
    assert.equal(needs.headers['service-event'], 'needs_input');

    const answer = (body: object) => key.api.request('POST', `/v1/runs/${runId}/answer`, { body });
    assert.equal((await answer({ answer: { decision: 'approve' } })).refusal.error, 'device_mode_required');
    const digest = randomBytes(32).toString('hex');
    const given = () => ({ answer: sealed({ kind: 'answer', fingerprint, digest }), question_id: question?.id });
    const body = given();
    assert.equal((await answer(body)).status, 200);
    assert.equal((await answer(given())).status, 200);
    assert.equal((await answer({ ...given(), answer: sealed({ kind: 'answer', fingerprint }) })).status, 409);
    const second = await mine.granted(2);
    assert.equal(second.answer?.answerJson, JSON.stringify(body.answer));
    mine.report('finish', 1, { status: RunStatus.SUCCEEDED });
    await until('it has succeeded', async () => (await shown(key.api, runId)).status === 'succeeded');
    const ended = await shown(key.api, runId);
    assert.deepEqual([ended.result_at, 'result' in ended, ended.attempts], ['worker', false, 1]);
    const done = await until('its last webhook', () => receiver.to('/device')[1]);
    assert.deepEqual(done.body, { run_id: runId, status: 'succeeded' });
  });

  test('a worker takes no runs of a key that is not its own, until its content part is granted to it', async () => {
    const [old, next] = [await newKey(), await newKey()];
    const runId = await started(old.api, old.fingerprint);
    const thief = worker(next, next, old);
    await until('it is refused', () => thief.closed !== null);
    assert.ok(thief.closed instanceof ServiceError && thief.closed.code === 'forbidden');
    const own = worker(next, next);
    await until('it is welcome', () => own.welcome !== null);
    const wrapped = envelope({ kind: 'grant', plainBytes: 43 });
    const act = { orgId: stack.ready.org_id, keyId: next.keyId, fromKeyId: old.keyId, wrapped, doer: TEST_DOER };
    await stack.registry.grantContent(act);
    await until('its workers connect again', () => own.closed !== null);
    const granted = worker(next, next, old);
    assert.equal((await granted.granted(1)).runId, runId);
    const [grant] = granted.welcome?.contentGrants ?? [];
    assert.deepEqual([grant?.fromKeyId, Buffer.from(grant?.wrapped ?? [])], [old.keyId, wrapped]);
    assert.deepEqual(own.grants, []);
  });

  test('a worker that cannot open a run returns it uncounted and is not offered it again; another one is', async () => {
    const key = await newKey();
    const runId = await started(key.api, key.fingerprint);
    const broken = worker(key, key);
    await broken.granted(1);
    broken.report('giveBack', 1, { cannotOpen: true, reason: 'content_key_missing' });
    await until('it is back', () => broken.acked.includes(1));
    const other = worker(key, key);
    const grant = await other.granted(1);
    assert.deepEqual([grant.runId, grant.attempt, broken.grants.length], [runId, 1, 1]);
  });

  test('a run that a wrong content part sealed delays no other run of its key', async () => {
    const key = await newKey();
    const mistyped = await started(key.api, 'ff'.repeat(16));
    const good = await started(key.api, key.fingerprint);
    const mine = worker(key, key);
    assert.equal((await mine.granted(1)).runId, good);
    assert.equal((await shown(key.api, mistyped)).queued_reason, 'key_missing');
    assert.equal((await shown(key.api, mistyped)).status, 'queued');
  });
});
