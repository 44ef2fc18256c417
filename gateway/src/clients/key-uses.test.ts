import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@methods/logging/logger';
import { KEY_USES_MAX_A_CALL, type KeyUse, KeyUses } from './key-uses.ts';

function fixture() {
  const calls: KeyUse[][] = [];
  let [nowMs, away] = [0, false];
  let due: (() => void) | null = null;
  const clock = {
    wallMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(_delayMs: number, run: () => void) {
      due = run;
      return { cancel: () => {} };
    },
  };
  const note = async (uses: readonly KeyUse[]) => {
    if (away) throw new Error('away');
    calls.push([...uses]);
  };
  const uses = new KeyUses({ clock, logger: silentLogger, note });
  return {
    uses,
    calls,
    minute: () => due?.(),
    at: (ms: number) => {
      nowMs = ms;
    },
    setAway: (value: boolean) => {
      away = value;
    },
  };
}

test('many uses of a key are reported once a minute, with the last time', async () => {
  const { uses, calls, at, minute } = fixture();
  uses.start();
  for (let ms = 0; ms < 100; ms++) {
    at(ms);
    uses.used('org_a', 'key_1');
  }
  assert.deepEqual(calls, []);
  minute();
  await new Promise(setImmediate);
  assert.deepEqual(calls, [[{ orgId: 'org_a', keyId: 'key_1', usedAtMs: 99 }]]);
  await uses.stop();
  assert.equal(calls.length, 1, 'nothing is left to report');
});

test('uses that the registry refuses are reported later, and also at the stop', async () => {
  const { uses, calls, setAway } = fixture();
  for (let n = 0; n < KEY_USES_MAX_A_CALL + 1; n++) uses.used('org_a', `key_${n}`);
  setAway(true);
  await uses.tell();
  setAway(false);
  await uses.stop();
  assert.deepEqual(
    calls.map(({ length }) => length),
    [KEY_USES_MAX_A_CALL, 1],
  );
});

test('the memory of uses is bounded', async () => {
  const { uses, calls } = fixture();
  for (let n = 0; n < 30_000; n++) uses.used('org_a', `key_${n}`);
  await uses.stop();
  assert.equal(calls.flat().length, 20_000);
});
