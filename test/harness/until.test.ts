import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from './until.ts';

test('waiting ends with the first true value, and with a named fault when none comes or a look never ends', async () => {
  let looks = 0;
  assert.equal(await until('the third look', () => ++looks === 3 && 'seen'), 'seen');
  await assert.rejects(
    until('rain', () => false, 30),
    /not within 30 ms: rain/,
  );
  await assert.rejects(
    until('an answer', () => new Promise(() => {}), 30),
    /one look took more than 30 ms: an answer/,
  );
  await assert.rejects(
    until('its fault', () => Promise.reject(new Error('broken'))),
    /broken/,
  );
});
