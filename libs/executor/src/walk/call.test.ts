import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@methods/method/json';
import type { RunOutcome } from '../run-outcome.ts';
import { StepFailure } from '../step-failure.ts';
import { Attempts, methodOf } from './attempts.fixture.ts';

function errorOf(outcome: RunOutcome) {
  assert.ok(outcome.status === 'failed', JSON.stringify(outcome));
  return outcome.error;
}

describe('call', () => {
  const callee = methodOf(
    `steps:
  - name: ticket
    in: [inputs.text]
    node: "return { label: text }"
    out: { label: string }
result: { label: =steps.ticket.label, extra: =1 }`,
    'inputs: { text: string 1.. , tone: string = plain }',
  );
  const caller = (target: string, more = '') =>
    methodOf(`steps:
  - name: classify
    call: ${target}
    in: { text: hello }
    out: { label: string }
${more}result: { label: =steps.classify.label }`);
  const substitute = ({ step, scope }: { step: { kind: string }; scope: { inputs: JsonObject } }) =>
    step.kind === 'call' ? null : { out: { label: `${scope.inputs.text}/${scope.inputs.tone}` } };

  it('runs another method inside this run, its steps recorded below its path', async () => {
    const run = new Attempts(caller('wf_8Xk2Lq'), {
      substitute,
      callee: async () => ({ method: callee, versionId: 'ver_2' as const }),
    });
    const outcome = await run.run();
    assert.deepEqual(
      outcome.status === 'succeeded' && outcome.result,
      { label: 'hello/plain' },
      JSON.stringify(outcome),
    );
    assert.deepEqual(run.paths, ['classify/ticket', 'classify']);
    assert.deepEqual(run.record('classify').out, { label: 'hello/plain' });
    assert.deepEqual(run.record('classify').dropped, ['extra']);
  });

  it('keeps to the version that was published when it began', async () => {
    const targets: unknown[] = [];
    const run = new Attempts(caller('wf_8Xk2Lq@published'), {
      substitute,
      callee: async (target) => {
        targets.push(target.kind === 'method' && target.version);
        return { method: callee, versionId: 'ver_7' as const };
      },
    });
    await run.run({}, 1);
    assert.equal((await run.run()).status, 'succeeded');
    assert.deepEqual(targets, ['published', { id: 'ver_7' }]);
  });

  it('fails with kind call when the method failed, refuses its inputs, or is unavailable', async () => {
    const broken = new Attempts(caller('wf_8Xk2Lq'), {
      substitute: ({ step }) => (step.kind === 'call' ? null : { error: { kind: 'exit', message: 'boom' } }),
      callee: async () => ({ method: callee, versionId: 'ver_2' as const }),
    });
    const error = errorOf(await broken.run());
    assert.deepEqual(error, {
      code: 'step_failed',
      kind: 'call',
      message: 'The called method failed in ticket: boom',
      step: 'classify',
    });
    const gone = new Attempts(caller('wf_8Xk2Lq'), { callee: () => Promise.reject(new Error('secret place')) });
    assert.equal(errorOf(await gone.run()).message, 'The called method is unavailable');
    const told = new Attempts(caller('wf_8Xk2Lq'), {
      callee: () => Promise.reject(new StepFailure('call', 'There is no such file')),
    });
    assert.equal(errorOf(await told.run()).message, 'There is no such file');
    const strict = methodOf(`steps: [{ name: a, node: "return {}" }]`, 'inputs: { text: string 50.. }');
    const refused = new Attempts(caller('wf_8Xk2Lq'), {
      callee: async () => ({ method: strict, versionId: 'ver_v' as const }),
    });
    assert.equal(errorOf(await refused.run()).kind, 'input');
  });

  it('nests five deep', async () => {
    const endless = caller('wf_8Xk2Lq');
    const open = { ...endless, inputSchema: { type: 'object' } };
    const run = new Attempts(open, { callee: async () => ({ method: open, versionId: 'ver_v' as const }) });
    const error = errorOf(await run.run());
    assert.match(error.message, /nest deeper than 5/);
    assert.equal(run.paths[0], Array(6).fill('classify').join('/'));
  });

  it('masks the secrets of the called method in its records', async () => {
    const canary = 'c4n4ry-7f3e9b1d';
    const secretive = methodOf(
      `secrets: [TOKEN]
steps:
  - { name: ticket, secrets: [TOKEN], node: "return { label: process.env.TOKEN }", out: { label: string } }
result: { label: =steps.ticket.label }`,
      'inputs: { text: string }',
    );
    const run = new Attempts(caller('wf_8Xk2Lq'), {
      secrets: new Map([['TOKEN', canary]]),
      substitute: ({ step }) => (step.kind === 'call' ? null : { out: { label: canary } }),
      callee: async () => ({ method: secretive, versionId: 'ver_v' as const }),
    });
    await run.run();
    assert.equal(run.record('classify/ticket').error?.kind, 'secret');
    assert.ok(!JSON.stringify(run.records).includes(canary));
  });
});
