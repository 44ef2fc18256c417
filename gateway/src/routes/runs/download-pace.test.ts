import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '@methods/base/clock';
import { DownloadPace } from './downloads.ts';

test('the readers of an organization share 64 MiB a second; another one does not wait', async () => {
  let nowMs = 0;
  const waits: { ms: number; over: () => void }[] = [];
  const clock: Clock = {
    wallMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(ms, over) {
      waits.push({ ms, over });
      return { cancel() {} };
    },
  };
  const pace = new DownloadPace(clock);
  assert.equal(pace.took('org_a', 1 << 20), null);
  const first = pace.took('org_a', 15 << 20);
  const second = pace.took('org_a', 16 << 20);
  assert.ok(first && second);
  assert.deepEqual(
    waits.map(({ ms }) => ms),
    [250, 500],
  );
  assert.equal(pace.took('org_b', 64 << 10), null);
  waits[0]?.over();
  await first;
  nowMs = 600;
  assert.equal(pace.took('org_a', 1 << 20), null);
  async function* parts() {
    yield Buffer.alloc(1);
    yield Buffer.alloc(8 << 20);
    yield Buffer.alloc(2);
  }
  const paced = pace.paced('org_c', parts());
  assert.equal((await paced.next()).value?.length, 1);
  const large = paced.next();
  await new Promise(setImmediate);
  assert.equal(waits.length, 3);
  waits[2]?.over();
  assert.equal((await large).value?.length, 8 << 20);
});
