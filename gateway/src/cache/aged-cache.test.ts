import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '@methods/base/clock';
import { ServiceError } from '@methods/errors/service-error';
import { AgedCache } from './aged-cache.ts';

function cacheAt(bytesMax = 1_000) {
  const time = { nowMs: 0 };
  const clock: Clock = { wallMs: () => time.nowMs, monotonicMs: () => time.nowMs, after: () => ({ cancel() {} }) };
  const cache = new AgedCache<string>({ clock, bytesMax, ageMsOf: () => 300, bytesOf: () => 90 });
  return { time, cache };
}

const away = async (): Promise<string> => {
  throw new ServiceError('unavailable');
};

test('a cached value needs no promise, and many concurrent callers share one load', async () => {
  const { cache } = cacheAt();
  let loads = 0;
  const load = async () => `v${++loads}`;
  assert.deepEqual(await Promise.all([cache.get('k', load), cache.get('k', load)]), ['v1', 'v1']);
  assert.equal(cache.get('k', load), 'v1');
  assert.equal(loads, 1);
});

test('an ageing value is renewed in the background, an old one before its next use', async () => {
  const { cache, time } = cacheAt();
  await cache.get('k', async () => 'old');
  time.nowMs = 250;
  assert.equal(
    cache.get('k', async () => 'new'),
    'old',
  );
  await new Promise(setImmediate);
  assert.equal(cache.get('k', away), 'new');
  time.nowMs = 1_000;
  assert.equal(await cache.get('k', async () => 'newest'), 'newest');
});

test('while the source is unavailable old values are used, and there is no new load for a second', async () => {
  const { cache, time } = cacheAt();
  await cache.get('k', async () => 'v');
  time.nowMs = 10_000;
  assert.equal(await cache.get('k', away), 'v');
  assert.equal(cache.get('k', away), 'v');
  time.nowMs = 20_001;
  assert.equal(await cache.get('k', async () => 'back'), 'back');
  await assert.rejects(async () => cache.get('unknown', away), { code: 'unavailable' });
});

test('after a failed load no request waits for a source that stalls', async () => {
  const { cache, time } = cacheAt();
  await cache.get('k', async () => 'v');
  time.nowMs = 10_000;
  assert.equal(await cache.get('k', away), 'v');
  let reply = (_value: string) => {};
  let loads = 0;
  const stalled = () => {
    loads++;
    return new Promise<string>((resolve) => {
      reply = resolve;
    });
  };
  assert.deepEqual([cache.get('k', stalled), loads], ['v', 0]);
  time.nowMs = 11_000;
  assert.deepEqual([cache.get('k', stalled), cache.get('k', stalled), loads], ['v', 'v', 1]);
  reply('back');
  await new Promise(setImmediate);
  assert.equal(cache.get('k', away), 'back');
  // The source has replied since: an old value is loaded before its use.
  time.nowMs = 12_000;
  assert.equal(await cache.get('k', async () => 'newer'), 'newer');
});

test('a value that has changed is loaded, even if its source was unavailable a moment ago', async () => {
  const { cache } = cacheAt();
  await cache.get('k', async () => 'old');
  await assert.rejects(async () => cache.get('unknown', away), { code: 'unavailable' });
  cache.expire('k');
  let loads = 0;
  const load = async () => (++loads === 1 ? away() : 'new');
  assert.equal(await cache.get('k', load), 'old');
  assert.equal(cache.get('k', load), 'old', 'no further try for a second');
  cache.expire('k');
  assert.equal(await cache.get('k', load), 'new');
});

test('a dropped value is never used again, even if its source is unavailable or its load was in flight', async () => {
  const { cache } = cacheAt();
  let answer: (value: string) => void = () => {};
  const loading = cache.get('k', () => new Promise((resolve) => (answer = resolve)));
  cache.drop('k');
  answer('before the change');
  assert.equal(await loading, 'before the change');
  assert.equal(await cache.get('k', async () => 'after the change'), 'after the change');
  cache.drop('k');
  await assert.rejects(async () => cache.get('k', away), { code: 'unavailable' });
});

test('a load in flight when its value was dropped does not serve later callers', async () => {
  const { cache } = cacheAt();
  let answer: (value: string) => void = () => {};
  const loading = cache.get('k', () => new Promise((resolve) => (answer = resolve)));
  cache.drop('k');
  const later = cache.get('k', async () => 'after the change');
  answer('before the change');
  assert.deepEqual(await Promise.all([loading, later]), ['before the change', 'after the change']);
  assert.equal(cache.get('k', away), 'after the change');
});

test('a load in flight when its value was dropped is not used even if the source becomes unavailable', async () => {
  const { cache } = cacheAt();
  let answer: (value: string) => void = () => {};
  const loading = cache.get('k', () => new Promise((resolve) => (answer = resolve)));
  cache.drop('k');
  answer('before the change');
  await loading;
  await assert.rejects(async () => cache.get('k', away), { code: 'unavailable' });
});

test('a refusal of the source ends the old value', async () => {
  const { cache, time } = cacheAt();
  await cache.get('k', async () => 'v');
  time.nowMs = 1_000;
  const refused = async () => {
    throw new ServiceError('not_found');
  };
  await assert.rejects(async () => cache.get('k', refused), { code: 'not_found' });
  await assert.rejects(async () => cache.get('k', away), { code: 'unavailable' });
});

test('the least recently used values are evicted first when it is full', async () => {
  const { cache } = cacheAt(300);
  const load = (value: string) => async () => value;
  for (const key of ['a', 'b', 'c']) await cache.get(key, load(key));
  assert.equal(cache.get('a', away), 'a');
  await cache.get('d', load('d'));
  assert.equal(cache.get('a', away), 'a');
  await assert.rejects(async () => cache.get('b', away));
});

test('a change or a refusal of one value does not affect the load of another', async () => {
  const { cache } = cacheAt();
  let answer: (value: string) => void = () => {};
  const loading = cache.get('k', () => new Promise((resolve) => (answer = resolve)));
  cache.expire('other');
  const refused = async () => {
    throw new ServiceError('not_found');
  };
  await assert.rejects(async () => cache.get('stranger', refused), { code: 'not_found' });
  answer('v');
  await loading;
  assert.equal(cache.get('k', away), 'v');
});
