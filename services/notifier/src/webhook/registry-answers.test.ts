import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '@methods/base/clock';
import type { KeyId, OrgId } from '@methods/base/ids';
import { RegistryAnswers } from './registry-answers.ts';

/** For the secret of an organization's key. */
function answers(ask: (orgId: OrgId, keyId: KeyId) => Promise<string>, clock: Clock) {
  return new RegistryAnswers({ ask, clock });
}

function clockAt(time: { ms: number }): Clock {
  return { wallMs: () => time.ms, monotonicMs: () => time.ms, after: () => ({ cancel() {} }) };
}

test('many deliveries share a request, and one follows when the answer is 30 s old', async () => {
  const time = { ms: 0 };
  let asked = 0;
  const secrets = answers(async () => `whsec_${++asked}`, clockAt(time));
  assert.deepEqual(await Promise.all([secrets.get('org_o', 'key_k'), secrets.get('org_o', 'key_k')]), [
    'whsec_1',
    'whsec_1',
  ]);
  time.ms = 29_999;
  assert.equal(await secrets.get('org_o', 'key_k'), 'whsec_1');
  time.ms = 30_000;
  assert.equal(await secrets.get('org_o', 'key_k'), 'whsec_2');
});

test('a key of another organization is another key', async () => {
  const secrets = answers(async (orgId, keyId) => `${orgId}:${keyId}`, clockAt({ ms: 0 }));
  assert.equal(await secrets.get('org_a', 'key_k'), 'org_a:key_k');
  assert.equal(await secrets.get('org_b', 'key_k'), 'org_b:key_k');
});

test('a failure is not cached', async () => {
  let asked = 0;
  const secrets = answers(
    () => (++asked === 1 ? Promise.reject(new Error('away')) : Promise.resolve('whsec_2')),
    clockAt({ ms: 0 }),
  );
  await assert.rejects(secrets.get('org_o', 'key_k'));
  assert.equal(await secrets.get('org_o', 'key_k'), 'whsec_2');
});

test('the oldest is dropped beyond a thousand', async () => {
  const asked: string[] = [];
  const secrets = answers(
    async (_orgId, keyId) => {
      asked.push(keyId);
      return keyId;
    },
    clockAt({ ms: 0 }),
  );
  for (let i = 0; i <= 1_000; i++) await secrets.get('org_o', `key_${i}`);
  asked.length = 0;
  await secrets.get('org_o', 'key_1');
  await secrets.get('org_o', 'key_0');
  assert.deepEqual(asked, ['key_0']);
});

test('an announced change is read again, even while a reply is on its way', async () => {
  const waiting: ((secret: string) => void)[] = [];
  const secrets = answers(() => new Promise((resolve) => waiting.push(resolve)), clockAt({ ms: 0 }));
  const before = secrets.get('org_o', 'key_k');
  secrets.forget('org_o', 'key_other');
  assert.equal(secrets.get('org_o', 'key_k'), before);
  secrets.forget('org_o', 'key_k');
  const after = secrets.get('org_o', 'key_k');
  waiting[0]?.('old');
  waiting[1]?.('new');
  assert.deepEqual([await before, await after, await secrets.get('org_o', 'key_k')], ['old', 'new', 'new']);
  secrets.forgetAll();
  void secrets.get('org_o', 'key_k');
  assert.equal(waiting.length, 3);
});

test('a slow registry gets sixteen requests at a time, and each is answered in the end', async () => {
  const open: (() => void)[] = [];
  const ask = (orgId: OrgId) => new Promise<string>((done) => open.push(() => done(`whsec_${orgId}`)));
  const secrets = answers(ask, clockAt({ ms: 0 }));
  const replies = Array.from({ length: 40 }, (_, n) => secrets.get(`org_${n}`, 'key_k'));
  for (const asked of [16, 32, 40]) {
    assert.equal(open.length, asked);
    for (const answer of open.slice(-16)) answer();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(new Set(await Promise.all(replies)).size, 40);
});

test('beyond a thousand waiting requests the next is refused', async () => {
  const secrets = answers(() => new Promise(() => {}), clockAt({ ms: 0 }));
  for (let n = 0; n < 1_016; n++) void secrets.get(`org_${n}`, 'key_k');
  await assert.rejects(secrets.get('org_next', 'key_k'), { code: 'unavailable' });
});
