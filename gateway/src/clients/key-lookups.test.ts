import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { KeyLookups } from './key-lookups.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Look-ups that the test completes. */
function held() {
  let nowMs = 0;
  const lookups = new KeyLookups({ ...systemClock, monotonicMs: () => nowMs });
  const begun: { readonly address: string; readonly end: () => void; readonly fail: (error: Error) => void }[] = [];
  const look = (address: string) =>
    lookups.run(
      address,
      () => new Promise<string>((end, fail) => begun.push({ address, end: () => end('key'), fail })),
    );
  const passMs = (ms: number) => {
    nowMs += ms;
  };
  return { begun, look, passMs };
}

test('eight look-ups of an address run at a time, and those of another address do not wait for the rest', async () => {
  const { begun, look } = held();
  const all = Array.from({ length: 100 }, () => look('a'));
  all.push(look('b'));
  await turn();
  assert.deepEqual(
    begun.map(({ address }) => address),
    [...Array(8).fill('a'), 'b'],
  );
  for (let n = 0; n < all.length; n++) {
    begun[n]?.end();
    await turn();
  }
  assert.equal(begun.length, 101);
  assert.deepEqual(new Set(await Promise.all(all)), new Set(['key']));
});

test('a failed look-up yields its turn; the 257th of an address is refused, but not those of other addresses', async () => {
  const { begun, look } = held();
  const all = Array.from({ length: 256 }, () => look('a').catch((error: Error) => error.message));
  await assert.rejects(look('a'), { code: 'rate_limited' });
  void look('b');
  await turn();
  assert.equal(begun.length, 9);
  begun[0]?.fail(new Error('away'));
  assert.equal(await all[0], 'away');
  await turn();
  assert.equal(begun.length, 10);
});

test('while the registry stalls, waiting look-ups fail with the first and do not take their turns', async () => {
  const { begun, look, passMs } = held();
  const codes = Array.from({ length: 50 }, () => look('a').catch((error: { code: string }) => error.code));
  await turn();
  passMs(3_001);
  begun[0]?.fail(new Error('deadline'));
  assert.deepEqual(new Set(await Promise.all(codes.slice(8))), new Set(['unavailable']));
  assert.equal(begun.length, 8);
});
