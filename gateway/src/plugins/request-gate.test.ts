import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { newRunId } from '@methods/base/ids';
import { gatewayFixture, until } from '../testing/gateway.fixture.ts';

/** Held replies stay held, and no bucket is refilled, on any machine. */
function holdingClock() {
  const held: (() => void)[] = [];
  const clock = {
    ...systemClock,
    monotonicMs: () => 0,
    after(delayMs: number, run: () => void) {
      if (delayMs !== 1_000) return systemClock.after(delayMs, run);
      held.push(run);
      return { cancel() {} };
    },
  };
  return { held, clock };
}

const path = `/v1/runs/${newRunId(1)}`;

test('a key that continues after a hundred refusals gets them late, and other keys at once', async () => {
  const { held, clock } = holdingClock();
  await using gateway = await gatewayFixture({ rateLimitPerKey: 1, clock });
  const statuses: number[] = [];
  const ask = async (key = gateway.apiKey.key) => {
    statuses.push((await gateway.ask('GET', path, undefined, { authorization: `Bearer ${key}` })).status);
  };
  await Promise.all(Array.from({ length: 102 }, () => ask()));
  assert.equal(statuses.filter((status) => status === 429).length, 100);
  const late = ask();
  await until(() => held.length === 1);
  await ask(gateway.registry.key(gateway.orgId).key);
  assert.deepEqual([statuses.length, statuses.at(-1)], [103, 404]);
  held[0]?.();
  await late;
  assert.equal(statuses.at(-1), 429);
});

test('an address without a key waits for each reply after the hundredth; probes and keys do not wait', async () => {
  const { held, clock } = holdingClock();
  await using gateway = await gatewayFixture({ rateLimitPerKey: 200, clock });
  const url = `http://127.0.0.1:${gateway.port}`;
  const statuses = new Set<number>();
  const ask = async (n: number) => {
    const response = await fetch(url + ([path, '/openapi.json', '/nowhere'][n % 3] ?? ''));
    statuses.add(response.status);
    await response.text();
  };
  const asked = Array.from({ length: 103 }, (_, n) => ask(n));
  await until(() => held.length === 3);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  assert.equal((await gateway.ask('GET', path)).status, 404);
  for (const tell of held) tell();
  await Promise.all(asked);
  assert.deepEqual([...statuses].sort(), [200, 401, 404]);
});

test('probes are never late, regardless of how many come from one address', async () => {
  const { held, clock } = holdingClock();
  await using gateway = await gatewayFixture({ rateLimitPerKey: 200, clock });
  const url = `http://127.0.0.1:${gateway.port}`;
  for (let n = 0; n < 120; n++) {
    const response = await fetch(`${url}${n % 2 === 0 ? '/healthz' : '/readyz'}`);
    assert.ok([200, 503].includes(response.status));
    await response.text();
  }
  assert.equal(held.length, 0);
});
