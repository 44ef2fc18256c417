// The short form of `npm run attacks`: no call of another organization fails or hangs. Ratios of times are for machines
// that do nothing else; that command looks at them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAttacks } from './run-attacks.ts';

const HANGS_MS = 20_000;

test('attacks of one organization, and of a stranger, fail no call of another', async (context) => {
  await runAttacks({
    schedulers: 2,
    windows: 1,
    attackedMs: 400,
    aloneMs: 0,
    onReport({ attack, attacked, replies }) {
      const slowestMs = attacked.ms(1);
      context.diagnostic(`${attack}: ${slowestMs.toFixed(0)} ms at most; ${JSON.stringify(replies)}`);
      assert.deepEqual(attacked.wrong, [], attack);
      assert.ok(slowestMs < HANGS_MS, `${attack}: ${slowestMs} ms`);
    },
  });
});
