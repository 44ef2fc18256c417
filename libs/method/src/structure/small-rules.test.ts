// Durations, rounding, nearest words and templates: rules small enough to be tested by themselves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { roundDecimal } from '../expression/round-decimal.ts';
import { splitTemplate } from '../expression/template.ts';
import { nearest } from '../source/did-you-mean.ts';
import { parseDuration } from './duration.ts';

test('durations are integers with falling units', () => {
  const good = { '10ms': 10, '30s': 30_000, '1h30m': 5_400_000, '3d': 259_200_000, '1m500ms': 60_500 };
  for (const [text, ms] of Object.entries(good)) assert.equal(parseDuration(text), ms, text);
  for (const text of ['', '5', 's', '30m1h', '1s1s', '1.5h', '-1s', '1 s', '1w', '5m ', '9'.repeat(39)])
    assert.equal(parseDuration(text), undefined, text);
});

test('rounding is half away from zero on the written number', () => {
  const cases: [number, number, number][] = [
    [1.005, 2, 1.01],
    [2.5, 0, 3],
    [-2.5, 0, -3],
    [0.1 + 0.2, 2, 0.3],
    [1e-7, 3, 0],
    [1e21, 2, 1e21],
    [123.456, 1, 123.5],
    [-0.4, 0, 0],
  ];
  for (const [value, digits, wanted] of cases) assert.equal(roundDecimal(value, digits), wanted);
});

test('the nearest word is within a third of the length, swaps count once', () => {
  assert.equal(nearest('tilte', ['title', 'name']), 'title');
  assert.equal(nearest('ordr', ['order', 'approval']), 'order');
  assert.equal(nearest('zzz', ['order', 'approval']), undefined);
  assert.equal(nearest('x'.repeat(1_000), ['order']), undefined);
  assert.equal(nearest('approvla', ['aproval', 'approval']), 'approval');
  assert.equal(nearest('customer_number', ['customer_name', 'custmer_numbr', 'number']), 'custmer_numbr');
  assert.equal(nearest('abcdef', ['fedcba', 'abc', 'abcdefghij']), undefined);
});

test('a text splits into its characters and insertions', () => {
  assert.deepEqual(splitTemplate('a ${b.c} $${d} ${ {x: "}"} }'), [
    { kind: 'text', text: 'a ' },
    { kind: 'insertion', source: 'b.c', start: 4 },
    { kind: 'text', text: ' ${d} ' },
    { kind: 'insertion', source: ' {x: "}"} ', start: 17 },
  ]);
});

test('a text without insertions is unchanged', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!text.includes('${'));
      assert.deepEqual(splitTemplate(text), [{ kind: 'text', text }]);
    }),
  );
});
