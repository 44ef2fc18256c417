import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadlineText, durationText, parseDuration } from './duration.ts';

test('a duration is written as an author writes it, and read back as the same time', () => {
  const written: readonly (readonly [number, string])[] = [
    [259_200_000, '3d'],
    [90_000, '1m30s'],
    [60_000, '1m'],
    [5_000, '5s'],
    [5_400_000, '1h30m'],
    [129_600_000, '1d12h'],
    [365 * 86_400_000, '365d'],
    [1, '1ms'],
    [1_500, '1500ms'],
    [90_001, '1m30s1ms'],
  ];
  for (const [ms, text] of written) {
    assert.equal(durationText(ms), text);
    assert.equal(parseDuration(text), ms);
  }
});

test('a deadline is shown as the source spells it, and milliseconds as a person would write them', () => {
  assert.equal(deadlineText(259_200_000, '72h'), '72h');
  assert.equal(deadlineText(259_200_000, '259200000ms'), '3d');
  assert.equal(deadlineText(90_000, ''), '1m30s');
  assert.equal(deadlineText(90_000, 'soon'.repeat(100)), '1m30s');
});
