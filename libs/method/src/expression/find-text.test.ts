import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import fc from 'fast-check';
import { compileMethod } from '../compile.ts';
import { evaluate } from '../evaluate.ts';
import { containsText, splitText } from './find-text.ts';

/** Long enough that the product of the lengths is above what the engine searches itself. */
const LONG = 'ab'.repeat(1_500);

test('long texts are searched and split as the engine does it', () => {
  const units = fc.array(fc.constantFrom('a', 'b', 'ab', LONG), { maxLength: 6 }).map((parts) => parts.join(''));
  const part = fc.tuple(units, fc.constantFrom('', 'a', 'ba', 'c')).map(([start, end]) => LONG + start + end);
  fc.assert(
    fc.property(units, part, units, fc.integer({ min: 1, max: 4 }), (before, wanted, after, piecesMax) => {
      for (const text of [before + wanted + after + wanted, wanted + wanted, before + after]) {
        assert.equal(containsText(text, wanted), text.includes(wanted));
        assert.deepEqual(splitText(text, wanted, piecesMax), text.split(wanted, piecesMax));
      }
    }),
    { numRuns: 200 },
  );
});

test('texts made to be hard to search are searched in time', () => {
  const { method, diagnostics } = compileMethod(`format: method/2
name: hard
inputs: { text: string, part: string }
require:
  - Held: inputs.text.includes(inputs.part)
  - Split: inputs.text.split(inputs.part).length == 1
  - Replaced: inputs.text.replaceAll(inputs.part, "x") == inputs.text
steps: [{ name: one, wait: 1s }]
`);
  assert.deepEqual(diagnostics, []);
  const part = `${'a'.repeat(40_000)}b${'a'.repeat(40_000)}`;
  const run = { id: 'run_1', started_at: '2026-01-31T12:00:00Z', version_id: 'ver_1' };
  const scope = { inputs: { text: 'a'.repeat(170_000), part }, run, steps: {} };
  const results = () => method?.require.map(({ that }) => evaluate(that, scope));
  assert.deepEqual(results(), [false, true, true]);
  const cpuMs = leastCpuMs(600, results);
  assert.ok(cpuMs < 600, `took ${cpuMs} ms of CPU`);
});
