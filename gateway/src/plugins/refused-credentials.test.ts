import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { gatewayFixture, type Reply } from '../testing/gateway.fixture.ts';
import { stoppedClock } from '../testing/stopped-clock.fixture.ts';

test('an address with too many bad credentials gets 429, good ones from there are still accepted', async () => {
  await using gateway = await gatewayFixture({ rateLimitPerKey: 1_000, trustProxy: '127.0.0.1', clock: stoppedClock });
  const from = (ip: string, authorization: string) =>
    gateway.ask('GET', '/v1/runs/run_x', undefined, { authorization, 'x-forwarded-for': ip });
  const good = `Bearer ${gateway.apiKey.key}`;
  const bad = () => `Bearer ${createServiceKey().authPart}`;
  const refused: Reply[] = [];
  for (let n = 0; n < 80; n++) {
    refused.push(await from(`2001:db8::${n + 1}`, n % 2 === 0 ? bad() : 'Bearer sk_mistyped'));
    assert.equal((await from('2001:db8::1', good)).status, 404);
  }
  assert.equal(
    refused.findIndex(({ status }) => status === 429),
    60,
  );
  const [first, last] = [refused[0], refused.at(-1)];
  assert.deepEqual([first?.status, first?.body], [401, { error: 'unauthorized' }]);
  assert.deepEqual([last?.status, last?.body.error], [429, 'rate_limited']);
  assert.ok(Number(last?.headers.get('retry-after')) >= 1);
  assert.equal(last?.headers.get('www-authenticate'), null);
  assert.equal((await from('2001:db8:0:1::1', bad())).status, 401, 'another network');
  const headers = { 'x-forwarded-for': '2001:db8::1' };
  assert.equal((await fetch(`http://127.0.0.1:${gateway.port}/v1/runs/run_x`, { headers })).status, 401, 'none shown');
});
