// Answers that the checks of their question refuse: where they were not judged before, the walk asks again.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { askStepAt, refusedBy, scopeOfAnswer } from '@methods/method/answer-checks';
import type { RunOutcome, RunQuestion } from '../run-outcome.ts';
import { Attempts, methodOf } from './attempts.fixture.ts';

const ASKING = methodOf(
  `steps:
  - { name: order, node: "return {}", out: { total: integer, lines: list<integer> } }
  - name: each_one
    each: steps.order.lines
    as: line
    steps:
      - name: pieces
        ask: { question: How many?, details: Of the line. }
        out: { n: integer, why?: string }
        ensure:
          - It is no more than the line: out.n <= line && out.n <= steps.order.total
          - { name: It is some, that: out.n > 0, level: warn }
`,
  'inputs: { most: integer = 9 }',
);

function questionOf(outcome: RunOutcome): RunQuestion {
  assert.ok(outcome.status === 'waiting', JSON.stringify(outcome));
  return outcome.question;
}

describe('a refused answer', () => {
  const substitute = ({ step }: { step: { kind: string } }) =>
    step.kind === 'ask' ? null : { out: { total: 7, lines: [5, 8] } };

  it('leaves the question open, with the sentence of the check; a better one continues', async () => {
    const run = new Attempts(ASKING, { substitute });
    const asked = questionOf(await run.run());
    assert.deepEqual(asked.ensureScope, { items: { line: 5 }, steps: { order: { total: 7 } } });
    const again = questionOf(await run.answer('each_one[0]/pieces', { n: 6 }));
    assert.equal(again.step, 'each_one[0]/pieces');
    assert.equal(again.details, 'The last answer was refused: It is no more than the line\n\nOf the line.');
    assert.deepEqual(
      again.refused?.map(({ name }) => name),
      ['It is no more than the line'],
    );
    assert.equal(run.finished.has('each_one[0]/pieces'), false);
    const next = questionOf(await run.answer('each_one[0]/pieces', { n: 0 }, 'q_2'));
    assert.equal(next.step, 'each_one[1]/pieces');
    assert.equal(run.record('each_one[0]/pieces').checks.at(-1)?.status, 'warned');
  });

  it('is the same refusal where the answer is given, with the scope of the question', async () => {
    const asked = questionOf(await new Attempts(ASKING, { substitute }).run());
    const step = askStepAt(ASKING, asked.step);
    assert.ok(step);
    const scope = JSON.parse(JSON.stringify(asked.ensureScope));
    assert.deepEqual(
      refusedBy(step, scope, { n: 6 }).map(({ name }) => name),
      ['It is no more than the line'],
    );
    assert.deepEqual(refusedBy(step, scope, { n: 5 }), []);
    // Without it, only what reads the answer by itself can be judged.
    assert.deepEqual(refusedBy(step, null, { n: 6 }), []);
  });

  it('reads a bounded part of the run', () => {
    const step = askStepAt(ASKING, 'each_one[0]/pieces');
    assert.ok(step);
    const scope = {
      inputs: {},
      run: { id: '', started_at: '', version_id: '' },
      steps: { order: { total: 'x'.repeat(70_000) } },
    };
    assert.equal(scopeOfAnswer(step, { ...scope, items: { line: 1 } }), null);
  });
});
