import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import type { ClaimedDelivery } from '../delivery/delivery.ts';
import { isPassing } from '../store/passing-faults.ts';
import { WebhookSender, type WebhookSenderOptions } from './webhook-sender.ts';

const URL_OF_CHAT = 'http://chat.example/';
const never = new AbortController().signal;

const delivery: ClaimedDelivery = {
  orgId: 'org_1',
  deliveryId: 'dlv_1',
  runId: 'run_1',
  seq: 1,
  url: '',
  endpointId: 'ep_1',
  kind: 'slack',
  host: 'chat.example',
  event: 'needs_input',
  keyId: '',
  body: Buffer.from('{}'),
  claim: 'c',
  tries: 0,
  resentFrom: null,
};

function failing(fault: unknown): WebhookSenderOptions {
  const known = { secret: '', earlier: [], events: ['needs_input'], paused: false, changedAtMs: 0 };
  const chat = { ...known, endpointId: 'ep_1', url: URL_OF_CHAT, name: 'ops', format: 'slack' } as const;
  return {
    policy: { allowPrivate: true, ports: [] },
    secrets: { get: async () => '' },
    endpoints: { get: async () => [chat] },
    chatMessage: () => Promise.reject(fault),
    hosts: { get: async () => [] },
    resolve: () => assert.fail('nothing is sent'),
    places: { enter: async () => () => {} },
    isPassing,
    clock: systemClock,
    timeoutMs: 60_000,
    logger: silentLogger,
  };
}

test('a chat message waits for what is unavailable', async () => {
  const outage = Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' });
  for (const fault of [new ServiceError('unavailable'), outage]) {
    assert.equal((await new WebhookSender(failing(fault)).send(delivery, never)).kind, 'postponed');
  }
});

test('a chat message that cannot be built is a failed try, so that its tries end', async () => {
  const refused = Object.assign(new Error('a value'), { code: '22008' });
  for (const fault of [
    new RangeError('too deep'),
    new ServiceError('not_found'),
    new ServiceError('internal'),
    refused,
  ]) {
    const outcome = await new WebhookSender(failing(fault)).send(delivery, never);
    assert.ok(outcome.kind === 'tried');
    assert.deepEqual([outcome.result.error, outcome.isLast], ['message_failed', false]);
  }
});
