// The short form of `npm run attacks`: no call of another organization fails or hangs. Ratios of times are for machines
// that do nothing else; that command looks at them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAttacks } from './run-attacks.ts';

const FOR_MS = 1_500;
const HANGS_MS = 5_000;

test('attacks of one organization, and of a stranger, fail no call of another', async (context) => {
  await runAttacks({
    schedulers: 2,
    forMs: FOR_MS,
    onReport({ attack, alone, attacked, replies }) {
      const times = [alone, attacked].map(({ p99Ms }) => `${p99Ms.toFixed(0)} ms`).join(' alone, ');
      context.diagnostic(`${attack}: p99 ${times} attacked; ${JSON.stringify(replies)}`);
      assert.deepEqual(attacked.wrong, [], attack);
      assert.ok(attacked.p99Ms < HANGS_MS, `${attack}: p99 ${attacked.p99Ms} ms`);
    },
  });
});
