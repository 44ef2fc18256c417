import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { newRunId } from '@methods/base/ids';
import { gatewayFixture, until } from '../testing/gateway-fixture.ts';

test('a key that goes on after a hundred refusals hears them late, and other keys at once', async () => {
  const held: (() => void)[] = [];
  const clock = {
    ...systemClock,
    // Nothing is filled up again, however slow the machine.
    monotonicMs: () => 0,
    after(delayMs: number, run: () => void) {
      if (delayMs !== 1_000) return systemClock.after(delayMs, run);
      held.push(run);
      return { cancel() {} };
    },
  };
  await using gateway = await gatewayFixture({ rateLimitPerKey: 1, clock });
  const path = `/v1/runs/${newRunId(1)}`;
  const statuses: number[] = [];
  const ask = async (key?: string) => {
    const { status } = await gateway.ask('GET', path, undefined, key ? { authorization: `Bearer ${key}` } : {});
    statuses.push(status);
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
