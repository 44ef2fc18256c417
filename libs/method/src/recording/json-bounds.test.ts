import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { isWithinBounds } from './compile-recording.ts';

test('JSON that nests within 200 levels and holds few values may be parsed', () => {
  for (const json of ['', '{}', '[1,{"a":[2]}]', `${'['.repeat(200)}${']'.repeat(200)}`]) {
    equal(isWithinBounds(json), true, json);
  }
});

test('deeper or fuller JSON may not, however small', () => {
  equal(isWithinBounds('['.repeat(201)), false);
  equal(isWithinBounds(`[${'{"a":'.repeat(200)}`), false);
  equal(isWithinBounds(`[${'0,'.repeat(5_000_000)}0]`), false);
});

test('brackets inside strings do not count, with any escapes around them', () => {
  const brackets = '['.repeat(500);
  equal(isWithinBounds(JSON.stringify([brackets, `\\"${brackets}\\`, brackets])), true);
  equal(isWithinBounds(`["\\\\",${brackets}`), false);
  equal(isWithinBounds(`["open ${brackets}`), true);
});
