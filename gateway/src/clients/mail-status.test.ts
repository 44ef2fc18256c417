import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailStatus } from './mail-status.ts';

test('the notifier is asked once in half a minute, and an unavailable one is asked again', async () => {
  let nowMs = 0;
  let asked = 0;
  const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs, after: () => ({ cancel() {} }) };
  const calls = {
    async getMailStatus() {
      asked++;
      if (asked === 2) throw new Error('unavailable');
      return { sendsMail: asked === 1 } as never;
    },
  };
  const status = mailStatus(calls, clock);
  assert.deepEqual(await Promise.all([status(), status()]), [true, true]);
  nowMs = 29_999;
  assert.deepEqual([await status(), asked], [true, 1]);
  nowMs = 30_000;
  assert.equal(await status(), null);
  nowMs = 60_000;
  assert.deepEqual([await status(), asked], [false, 3]);
  assert.equal(await mailStatus(null, clock)(), null);
});
