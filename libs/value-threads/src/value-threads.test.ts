import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { ValueThreads } from './value-threads.ts';

const NESTED = Array.from({ length: 25 }).reduce<object>((inner) => ({ uniqueItems: true, items: inner }), {});

describe('checks of values on threads', { timeout: 300_000 }, () => {
  const threads = new ValueThreads();
  after(() => threads.stop());

  const costly = (value: unknown, schema: object = NESTED) =>
    threads.check({ orgId: 'a', schema, valueJson: JSON.stringify(value), addedBytesMax: 1_000 } as never);

  test('a value that takes more than a turn is judged, with its defaults', async () => {
    const value = [[Array.from({ length: 8_000 }, (_, n) => ({ n }))]];
    assert.deepEqual(await costly(value), { ok: true, value });
    assert.deepEqual(await costly({}, { properties: { a: { default: 1 } } }), { ok: true, value: { a: 1 } });
    const large = await costly([{}, {}], { items: { properties: { a: { default: 'x'.repeat(900) } } } });
    assert.equal(large.ok || large.reason, 'too_large');
  });

  test('the event loop continues meanwhile, and a value that takes too much is refused', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 10);
    const branches = Array.from({ length: 400 }, (_, n) => ({ const: -n - 1 }));
    const before = process.cpuUsage().user;
    const result = await costly(
      Array.from({ length: 100_000 }, (_, n) => n),
      { contains: { anyOf: branches } },
    );
    clearInterval(timer);
    assert.equal(result.ok || result.reason, 'too_costly');
    assert.ok(turns > 3, `${turns} turns`);
    assert.ok(process.cpuUsage().user - before < 10_000_000);
  });
});
