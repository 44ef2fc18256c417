import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { createServiceKey, parseBearerKey } from '@methods/auth/service-key';
import { ServiceError } from '@methods/errors/service-error';
import { type KeyOwner, WorkerKeys } from './worker-keys.ts';

const OWNER = { orgId: 'org_a' as const, keyId: 'key_a' as const };

describe('keys of workers', () => {
  let nowMs: number;
  let asked: number;
  let answer: () => Promise<KeyOwner>;
  let keys: WorkerKeys;
  const authorization = bearer();

  beforeEach(() => {
    nowMs = 0;
    asked = 0;
    answer = async () => OWNER;
    keys = new WorkerKeys({
      nowMs: () => nowMs,
      resolve: () => {
        asked++;
        return answer();
      },
    });
  });

  function bearer(): string {
    const parsed = parseBearerKey(createServiceKey().key);
    assert.ok(parsed);
    return `Bearer ${parsed.authPart}`;
  }

  async function refusal(promise: Promise<unknown>): Promise<string> {
    return promise.then(
      () => 'none',
      (error: ServiceError) => error.code,
    );
  }

  const away = async () => Promise.reject(new ServiceError('unavailable'));
  const revoked = async () => Promise.reject(new ServiceError('unauthorized'));

  test('a key is looked up once, and again after 20 s', async () => {
    for (let i = 0; i < 3; i++) assert.equal((await keys.ownerOf(authorization)).keyId, 'key_a');
    assert.equal(asked, 1);
    nowMs = 20_000;
    await keys.ownerOf(authorization);
    assert.equal(asked, 2);
  });

  test('an invalid key is refused without a lookup', async () => {
    for (const text of ['', 'Bearer', 'Bearer x', authorization.slice(7)]) {
      assert.equal(await refusal(keys.ownerOf(text)), 'unauthorized');
    }
    assert.equal(asked, 0);
  });

  test('a known key is valid while the registry is unavailable, an unknown one is not', async () => {
    await keys.ownerOf(authorization);
    nowMs = 3_600_000;
    answer = away;
    assert.equal((await keys.ownerOf(authorization)).orgId, 'org_a');
    assert.equal(await refusal(keys.ownerOf(bearer())), 'unavailable');
  });

  test('a revoked key is refused at once if the event arrives, within 20 s if it does not', async () => {
    await keys.ownerOf(authorization);
    answer = revoked;
    assert.equal(await refusal(keys.ownerOf(authorization)), 'none');
    keys.changed('key_other');
    assert.equal(await refusal(keys.ownerOf(authorization)), 'none');
    keys.changed('key_a');
    assert.equal(await refusal(keys.ownerOf(authorization)), 'unauthorized');
    nowMs = 1_000;
    answer = away;
    assert.equal(await refusal(keys.ownerOf(authorization)), 'unavailable');
  });

  test('a wrong key is looked up once a second, for any number of requests, and works soon after it was created', async () => {
    answer = revoked;
    const first = await Promise.all(Array.from({ length: 50 }, () => refusal(keys.ownerOf(authorization))));
    for (let i = 0; i < 50; i++) first.push(await refusal(keys.ownerOf(authorization)));
    assert.deepEqual([asked, new Set(first)], [1, new Set(['unauthorized'])]);
    nowMs = 1_000;
    answer = async () => OWNER;
    assert.equal((await keys.ownerOf(authorization)).keyId, 'key_a');
  });

  test('wrong keys beyond the bound are forgotten, but no valid key with them', async () => {
    await keys.ownerOf(authorization);
    answer = revoked;
    const wrong = bearer();
    await refusal(keys.ownerOf(wrong));
    for (let i = 0; i < 10_000; i++) await refusal(keys.ownerOf(bearer()));
    asked = 0;
    await refusal(keys.ownerOf(wrong));
    assert.equal(asked, 1);
    await keys.ownerOf(authorization);
    assert.equal(asked, 1);
  });

  test('an answer from before the key changed does not outlive the change', async () => {
    let arrive: (owner: KeyOwner) => void = () => {};
    answer = () =>
      new Promise((resolve) => {
        arrive = resolve;
      });
    const early = keys.ownerOf(authorization);
    answer = revoked;
    keys.changed('key_a');
    arrive(OWNER);
    assert.equal(await refusal(early), 'unauthorized');
    assert.equal(await refusal(keys.ownerOf(authorization)), 'unauthorized');
  });
});
