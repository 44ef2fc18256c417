import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '@methods/base/clock';
import { newId, type OrgId } from '@methods/base/ids';
import { EndpointEvents } from './endpoint-events.ts';

const ORG = newId('org');
const turn = () => new Promise((resolve) => setImmediate(resolve));

function parts(answer: (orgId: OrgId) => Promise<readonly string[]>) {
  const asked: OrgId[] = [];
  const time = { nowMs: 0 };
  const clock: Clock = { wallMs: Date.now, monotonicMs: () => time.nowMs, after: () => ({ cancel: () => {} }) };
  const ask = (orgId: OrgId) => {
    asked.push(orgId);
    return answer(orgId);
  };
  return { events: new EndpointEvents({ ask, clock }), asked, time };
}

test('events that are not known are taken, and known a moment later', async () => {
  const { events, asked } = parts(async () => []);
  assert.equal(events.takes(ORG, 'failed'), true);
  assert.equal(events.takes(ORG, 'failed'), true);
  await turn();
  assert.equal(events.takes(ORG, 'failed'), false);
  assert.equal(asked.length, 1);
});

test('a busy organization is refreshed ahead of time, so that unknown events are never kept', async () => {
  const { events, asked, time } = parts(async () => ['failed']);
  events.takes(ORG, 'failed');
  await turn();
  for (; time.nowMs < 120_000; time.nowMs += 1_000) {
    assert.deepEqual([events.takes(ORG, 'failed'), events.takes(ORG, 'cancelled')], [true, false]);
    await turn();
  }
  assert.ok(asked.length <= 8, String(asked.length));
});

test('an expired answer no longer counts: an endpoint may have been created since', async () => {
  const { events, time } = parts(async () => []);
  events.takes(ORG, 'failed');
  await turn();
  time.nowMs = 30_000;
  assert.equal(events.takes(ORG, 'failed'), true);
});

test('a change counts at once, even one announced while the registry was being asked', async () => {
  let release = (_: readonly string[]) => {};
  const answer = (resolve: (events: readonly string[]) => void) => {
    release = resolve;
  };
  const { events } = parts(() => new Promise(answer));
  events.takes(ORG, 'failed');
  events.changed(ORG);
  release([]);
  await turn();
  assert.equal(events.takes(ORG, 'failed'), true);
  release([]);
  await turn();
  assert.equal(events.takes(ORG, 'failed'), false);
  events.missed();
  assert.equal(events.takes(ORG, 'failed'), true);
});

test('an unavailable registry costs one request a second and loses no event', async () => {
  const { events, asked, time } = parts(() => Promise.reject(new Error('down')));
  for (; time.nowMs < 10_000; time.nowMs += 10) {
    assert.equal(events.takes(ORG, 'failed'), true);
    await turn();
  }
  assert.ok(asked.length <= 11, String(asked.length));
});

test('only a few of many organizations are asked about at a time', () => {
  const { events, asked } = parts(() => new Promise(() => {}));
  for (let n = 0; n < 1_000; n++) events.takes(newId('org'), 'failed');
  assert.ok(asked.length <= 16, String(asked.length));
});
