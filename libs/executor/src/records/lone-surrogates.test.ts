import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { RunHarness } from '../run-harness.fixture.ts';
import { createMask } from '../secrets/mask.ts';
import { maskedEvent, type StepEvent } from '../step-event.ts';
import { methodOf } from '../walk/attempts.fixture.ts';

let harness: RunHarness;
before(async () => {
  harness = await RunHarness.start();
});
after(() => harness.stop());

const one = (code: string, out: string, rest = '') =>
  methodOf(`steps:
  - name: only
    node: |
      ${code}
    out: ${out}
${rest}`);

describe('half of a character', () => {
  it('is replaced in the messages of running code, which are JSON of their own', () => {
    const half = '\ud83d';
    const mask = createMask(new Map());
    const said: StepEvent[] = [
      { t: 'log', message: half, data: { [half]: [half] } },
      { t: 'progress', at: 0.5, message: half },
      { t: 'check', name: half, ok: false, level: 'error', message: half, actual: { a: half } },
    ];
    for (const event of said) assert.doesNotMatch(JSON.stringify(maskedEvent(event, mask)), /\\ud83d/);
  });

  it('fails the step whose out holds it, in a text, a name or a list, with its place', async () => {
    for (const [code, out, place] of [
      ["return { a: 'x\\ud83d' }", '{ a: string }', '/a'],
      ["return { a: { 'x\\udd11': 1 } }", '{ a: object }', '/a'],
      ["return { a: ['ok', ['\\ud83d']] }", '{ a: any }', '/a/1/0'],
    ] as const) {
      const { status, error } = await harness.last(one(code, out));
      assert.deepEqual([status, error?.kind], ['failed', 'out'], code);
      assert.ok(error?.message.includes(`half of a character at ${place} `), error?.message);
    }
  });

  it('is not found in pairs and in the letters of an escape', async () => {
    const record = await harness.last(
      one("return { a: '\\ud83d\\udd11', b: '\\\\ud83d' }", '{ a: string, b: string }'),
    );
    assert.deepEqual(record.out, { a: '🔑', b: '\\ud83d' });
  });

  it('is replaced in texts that are only shown: messages, stacks, checks and names of undeclared fields', async () => {
    const thrown = await harness.last(one("throw new Error('x\\ud83d')", '{ a: string }'));
    const checked = await harness.last(
      one(
        "step.check('n\\ud83d', true, { actual: { '\\ud83d': ['\\udd11'] }, message: '\\ud83d' }); return { a: '1', '\\ud83d': 2 }",
        '{ a: string }',
      ),
    );
    for (const record of [thrown, checked])
      assert.ok(!/\\ud[89a-f]/.test(JSON.stringify(record)), JSON.stringify(record));
    assert.match(thrown.error?.message ?? '', /x\ufffd/);
    assert.deepEqual(checked.dropped, ['\ufffd']);
  });
});
