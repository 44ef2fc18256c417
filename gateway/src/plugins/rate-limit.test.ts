import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, newRunId } from '@methods/base/ids';
import { TokenBuckets } from '@methods/base/token-bucket';
import { gatewayFixture } from '../testing/gateway.fixture.ts';
import { stoppedClock } from '../testing/stopped-clock.fixture.ts';

test('a bucket allows its burst, then its rate', () => {
  let nowMs = 0;
  const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs, after: () => ({ cancel() {} }) };
  const buckets = new TokenBuckets({ clock, perSecond: 10, burst: 20 });
  const taken = (count: number) =>
    Array.from({ length: count }, () => buckets.take('a').allowed).filter(Boolean).length;
  assert.equal(taken(30), 20);
  nowMs = 500;
  assert.equal(taken(30), 5);
  assert.equal(buckets.take('a').waitMs, 100);
  assert.equal(buckets.take('b').remaining, 19);
  nowMs = 3_600_000;
  assert.equal(taken(30), 20);
});

test('when there are too many keys the least recently used is forgotten', () => {
  const clock = { wallMs: () => 0, monotonicMs: () => 0, after: () => ({ cancel() {} }) };
  const buckets = new TokenBuckets({ clock, perSecond: 1, burst: 2, bucketsMax: 3 });
  buckets.take('busy');
  for (const key of ['a', 'b']) buckets.take(key);
  buckets.take('busy');
  buckets.take('c');
  assert.deepEqual([buckets.take('busy').allowed, buckets.take('b').remaining], [false, 0]);
  assert.equal(buckets.take('a').remaining, 1);
});

test('a key beyond its burst gets 429 with Retry-After, another key does not', async () => {
  await using gateway = await gatewayFixture({ rateLimitPerKey: 1, clock: stoppedClock });
  const path = `/v1/runs/${newRunId(1)}`;
  const replies = [await gateway.ask('GET', path), await gateway.ask('GET', path), await gateway.ask('GET', path)];
  assert.deepEqual(
    replies.map(({ status }) => status),
    [404, 404, 429],
  );
  assert.deepEqual(
    replies.map(({ headers }) => headers.get('ratelimit-remaining')),
    ['1', '0', '0'],
  );
  const [, , refused] = replies;
  assert.equal(refused?.body.error, 'rate_limited');
  assert.equal(refused?.headers.get('ratelimit-limit'), '2');
  assert.ok(Number(refused?.headers.get('retry-after')) >= 1);
  const other = gateway.registry.key(gateway.orgId).key;
  assert.equal((await gateway.ask('GET', path, undefined, { authorization: `Bearer ${other}` })).status, 404);
});

test('keys of one organization share its rate, and another organization has its own', async () => {
  await using gateway = await gatewayFixture({ rateLimitPerKey: 2, rateLimitPerOrganization: 3, clock: stoppedClock });
  const path = `/v1/runs/${newRunId(1)}`;
  const ask = (key: string) => gateway.ask('GET', path, undefined, { authorization: `Bearer ${key}` });
  const [one, two] = [gateway.apiKey.key, gateway.registry.key(gateway.orgId).key];
  const replies = [];
  for (const key of [one, one, one, one, two, two, two]) replies.push(await ask(key));
  assert.deepEqual(
    replies.map(({ status, headers }) => [status, headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]),
    [
      [404, '4', '3'],
      [404, '4', '2'],
      [404, '4', '1'],
      [404, '4', '0'],
      [404, '6', '1'],
      [404, '6', '0'],
      [429, '6', '0'],
    ],
  );
  assert.deepEqual([replies.at(-1)?.body.error, replies.at(-1)?.body.share], ['rate_limited', 'organization']);
  const stranger = await ask(gateway.registry.key(newId('org')).key);
  assert.deepEqual([stranger.status, stranger.headers.get('ratelimit-remaining')], [404, '3']);
});
