import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepLines, withoutRounds } from './step-lines.ts';

const SOURCE = `format: method/2
name: refunds
inputs:
  - name: not a step
steps:
  - name: order
    node: |
      return { name: 'x' }
  - name: "each"
    each: =inputs.items
    steps:
      - name: fetch
        http: GET https://example.com
      - name: store # keeps it
  - name: last
finally:
  - name: tidy
result: {}
`;

test('steps are found with those above them', () => {
  assert.deepEqual(
    stepLines(SOURCE).map(({ line, path }) => `${line} ${path}`),
    ['6 order', '9 each', '12 each/fetch', '14 each/store', '15 last', '17 tidy'],
  );
});

test('a path of a round is that of its step', () => {
  assert.equal(withoutRounds('each[12]/fetch'), 'each/fetch');
});

test('a source of the largest size takes a moment only', () => {
  const begun = performance.now();
  stepLines(`steps:\n${'  - name: x\n'.repeat(20_000)}${' '.repeat(200_000)}`);
  assert.ok(performance.now() - begun < 1_000);
});
