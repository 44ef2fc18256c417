import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonTime } from './content-view.ts';

test('writes times as Date does, of one second or of others', () => {
  const begin = Date.UTC(2026, 10, 25, 23, 59, 59, 998);
  const near = [0, 0.5, 1, 1.999, 2, 2, 3, 11, 999, 1_001.25, 1_002, -1, -999, 86_400_000];
  const far = [1, 0.4, 999, 1_000, 8_640_000_000_000_000, 253_402_300_800_000];
  for (const ms of [...near.map((more) => begin + more), ...far, begin]) {
    assert.equal(jsonTime(ms), JSON.stringify(new Date(ms)), String(ms));
  }
  assert.equal(jsonTime(0), 'null');
});
