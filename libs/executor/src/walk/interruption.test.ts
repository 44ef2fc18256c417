import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileCheck } from '@methods/method/check-value';
import type { JsonObject } from '@methods/method/json';
import type { RunOutcome } from '../run-outcome.ts';
import { Attempts, methodOf } from './attempts.fixture.ts';

function errorOf(outcome: RunOutcome) {
  assert.ok(outcome.status === 'failed', JSON.stringify(outcome));
  return outcome.error;
}

describe('a step whose worker was lost', () => {
  const method = (onInterrupt: string) =>
    methodOf(`steps:
  - name: pay
    title: Pay the bill
    node: "return { id: 'x' }"
    out: { id: string }
    on_interrupt: ${onInterrupt}
result: { id: =steps.pay.id }`);
  /** The attempt is lost while the step runs. */
  async function lost(onInterrupt: string) {
    const acted: string[] = [];
    const substitute = ({ path }: { path: string }) => {
      acted.push(path);
      return { out: { id: `p${acted.length}` } };
    };
    const run = new Attempts(method(onInterrupt), { substitute });
    // The start is kept and the record is not.
    await run.run({}, onInterrupt === 'rerun' ? 0 : 1);
    assert.deepEqual([acted, run.records], [['pay'], []]);
    return { run, acted };
  }

  it('runs again with rerun', async () => {
    const { run, acted } = await lost('rerun');
    assert.equal((await run.run()).status, 'succeeded');
    assert.equal(acted.length, 2);
  });

  it('fails with fail', async () => {
    const { run, acted } = await lost('fail');
    assert.equal(errorOf(await run.run()).kind, 'interrupted');
    assert.equal(acted.length, 1);
  });

  it('asks with ask: whether it happened, and its out', async () => {
    const { run, acted } = await lost('ask');
    const asked = await run.run();
    assert.ok(asked.status === 'waiting', JSON.stringify(asked));
    const { step, prompt, form } = asked.question;
    assert.deepEqual([step, prompt], ['pay', 'Did "Pay the bill" happen?']);
    const check = compileCheck(form);
    const fits = (answer: JsonObject) => check(answer).ok;
    assert.ok(fits({ decision: 'happened', out: { id: 'told' } }));
    assert.ok(fits({ decision: 'run_again' }) && fits({ decision: 'fail' }));
    assert.ok(!fits({ decision: 'happened' }) && !fits({ decision: 'happened', out: {} }) && !fits({}));
    const outcome = await run.answer('pay', { decision: 'happened', out: { id: 'told' } });
    assert.deepEqual(outcome.status === 'succeeded' && outcome.result, { id: 'told' });
    assert.equal(acted.length, 1);
  });

  it('runs again, or fails, as the person says', async () => {
    const again = await lost('ask');
    assert.equal((await again.run.answer('pay', { decision: 'run_again' })).status, 'succeeded');
    assert.equal(again.acted.length, 2);
    const ended = await lost('ask');
    assert.equal(errorOf(await ended.run.answer('pay', { decision: 'fail' })).kind, 'interrupted');
  });

  it('asks again when it was lost again: an answer is good for one interruption', async () => {
    const { run, acted } = await lost('ask');
    const answer = { questionId: 'q_1' as const, step: 'pay', value: { decision: 'run_again' } };
    await run.run({ answer }, 1);
    assert.equal(acted.length, 2);
    const asked = await run.run({ answer });
    assert.equal(asked.status === 'waiting' && asked.question.step, 'pay', JSON.stringify(asked));
  });
});
