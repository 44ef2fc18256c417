// Large values: what is just within a limit works whole, what is just over it fails with the limit's name.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Stack } from '../stack.ts';

const KIB = 1024;
/** `{"text":""}` around the characters. */
const AROUND = 11;

export function sizes(stack: () => Stack): void {
  describe('sizes', () => {
    test('eight starts with inputs of 256 KiB at once all run', async () => {
      const text = 'x'.repeat(256 * KIB - AROUND);
      const runs = await Promise.all(
        Array.from({ length: 8 }, () =>
          stack().api.startSettled({ method: stack().method('echo-inputs'), inputs: { text } }),
        ),
      );
      for (const run of runs) {
        assert.equal(run.status, 'succeeded');
        assert.deepEqual(run.result, { characters: text.length });
      }
    });

    test('inputs are measured in bytes, without the space around them', async () => {
      const method = stack().method('echo-inputs');
      const text = 'ä'.repeat(128 * KIB - 6);
      const fits = `{"method":"${method}",   "inputs": {  "text": "${text}" } }`;
      const reply = await stack().api.request('POST', '/v1/runs?wait_ms=60000', { text: fits });
      assert.equal(reply.run.status, 'succeeded');
      const over = await stack().api.start({ method, inputs: { text: `${text}ää` } });
      assert.deepEqual([over.status, over.refusal.details?.[0]?.code], [413, 'inputs_bytes']);
    });

    test("a step's out has at most 256 KiB", async () => {
      const make = (characters: number) =>
        stack().api.startSettled({ method: stack().method('large-out'), inputs: { characters } });
      const fits = await make(256 * KIB - AROUND);
      assert.deepEqual([fits.status, fits.result], ['succeeded', { characters: 256 * KIB - AROUND }]);
      const over = await make(256 * KIB - AROUND + 1);
      assert.equal(over.status, 'failed');
      assert.deepEqual(over.error, {
        code: 'step_failed',
        kind: 'limit',
        message: 'out is larger than 256 KiB (limits: output_kb); use a file',
        step: 'make',
      });
    });

    test('a result has at most 1 MiB, and comes back whole', async () => {
      // {"a":"","b":""}
      const around = 15;
      const half = 512 * KIB;
      const fits = await stack().api.startSettled({
        method: stack().method('large-result'),
        inputs: { characters: half - Math.ceil(around / 2), times: 2 },
      });
      assert.equal(fits.status, 'succeeded', JSON.stringify(fits.error));
      assert.equal(String(fits.result?.a).length, half - Math.ceil(around / 2));
      assert.equal(fits.result?.b, fits.result?.a);
      const over = await stack().api.startSettled({
        method: stack().method('large-result'),
        inputs: { characters: half, times: 2 },
      });
      assert.equal(over.status, 'failed');
      assert.deepEqual(over.error, {
        code: 'result_invalid',
        kind: 'limit',
        message: 'The result is larger than 1 MiB; use a file',
      });
    });
  });
}
