// The cleanup after a failure without a walk: a question without an answer, or a worker lost for the last time.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RunOptions } from '../run-options.ts';
import type { RunError } from '../run-outcome.ts';
import type { SubstitutedAction } from '../substitute.ts';
import { Attempts, methodOf } from './attempts.fixture.ts';

const LOST: RunError = { code: 'attempts_exhausted', kind: 'worker_lost', message: 'Lost.', step: 'rows[1]/pay' };

/** Every acting step succeeds; `acted` has their paths in order. */
function acting(acted: string[]): Pick<RunOptions, 'substitute'> {
  return {
    substitute: ({ step, path }: SubstitutedAction) => {
      if (step.kind === 'ask') return null;
      acted.push(path);
      return { out: { n: 1 } };
    },
  };
}

const LOOPED = methodOf(`steps:
  - { name: first, node: "return {}", out: { n: integer } }
  - name: rows
    each: "[1, 2, 3]"
    on_error: continue
    steps:
      - { name: pay, node: "return {}", out: { n: integer }, on_error: continue }
  - { name: last, node: "return {}" }
on_failure:
  - name: undo
    in: { n: =steps.first?.n ?? 0, of: =failure.step, kind: =failure.kind }
    node: step.log(n, of, kind)
finally:
  - { name: tidy, node: "return {}" }
`);

describe('a run whose worker was lost for the last time', () => {
  it('begins no more steps, and runs on_failure and finally', async () => {
    const acted: string[] = [];
    const run = new Attempts(LOOPED, acting(acted));
    await run.run({}, 2);
    acted.length = 0;
    const given: unknown[] = [];
    const observer = { stepGiven: (path: string, values: unknown) => given.push([path, values]) };
    const end = await run.run({ ending: LOST, observer });
    assert.deepEqual(acted, ['on_failure/undo', 'finally/tidy']);
    assert.deepEqual(end.status === 'failed' && end.error, LOST);
    assert.equal(run.finished.has('rows[1]/pay'), false);
  });

  it('does not begin the step of the cleanup again that was running when the worker was lost', async () => {
    const acted: string[] = [];
    const run = new Attempts(LOOPED, acting(acted));
    run.finished.set('on_failure/undo', { status: 'running', out: null, withheld: false });
    const end = await run.run({ ending: LOST });
    assert.deepEqual(acted, ['finally/tidy']);
    assert.equal(run.record('on_failure/undo').error?.kind, 'worker_lost');
    assert.equal(end.status === 'failed' && end.error.code, 'attempts_exhausted');
  });

  it('keeps the earlier failure of its steps', async () => {
    const run = new Attempts(LOOPED, acting([]));
    const earlier = { code: 'step_failed', kind: 'http', message: 'no', step: 'first', name: 'first' };
    run.finished.set('@failure', { status: 'running', out: earlier, withheld: false });
    const end = await run.run({ ending: LOST });
    assert.equal(end.status === 'failed' && `${end.error.code} ${end.error.step}`, 'step_failed first');
  });

  it('cleans up in the called method as well', async () => {
    const callee = methodOf(
      'steps:\n  - { name: one, node: "return {}", out: { n: integer } }\n  - { name: two, node: "return {}" }\nfinally:\n  - { name: shut, node: "return {}" }\n',
    );
    const caller = methodOf(
      'steps:\n  - { name: before, node: "return {}" }\n  - name: inner\n    call: wf_inner\nfinally:\n  - { name: tidy, node: "return {}" }\n',
    );
    const acted: string[] = [];
    const substitute = (action: SubstitutedAction) =>
      action.step.kind === 'call' ? null : (acting(acted).substitute?.(action) ?? null);
    const options = { substitute, callee: async () => ({ method: callee, versionId: 'ver_2' as const }) };
    const run = new Attempts(caller, options);
    await run.run({}, 2);
    acted.length = 0;
    const end = await run.run({ ending: LOST });
    assert.deepEqual(acted, ['inner/finally/shut', 'finally/tidy']);
    assert.equal(end.status === 'failed' && end.error.code, 'attempts_exhausted');
  });
});

describe('a question whose deadline passed', () => {
  const error = { kind: 'timeout', message: 'No answer within 3d' } as const;
  const asking = (more: string) =>
    methodOf(`steps:
  - name: ok
    ask: Really?
    out: { yes: boolean }
    limits: { timeout: 3d }${more}
  - { name: next, node: "return {}" }
on_failure:
  - { name: undo, in: { kind: =failure.kind }, node: step.log(kind) }
finally:
  - { name: tidy, node: "return {}" }
`);

  it('fails its step, and on_failure and finally run', async () => {
    const acted: string[] = [];
    const run = new Attempts(asking(''), acting(acted));
    run.finished.set('ok', { status: 'failed', out: null, withheld: false, error });
    const end = await run.run();
    assert.deepEqual(acted, ['on_failure/undo', 'finally/tidy']);
    assert.deepEqual(end.status === 'failed' && end.error, { code: 'no_answer', ...error, step: 'ok' });
  });

  it('lets the run continue with on_error: continue', async () => {
    const acted: string[] = [];
    const run = new Attempts(asking('\n    on_error: continue'), acting(acted));
    run.finished.set('ok', { status: 'failed', out: null, withheld: false, error });
    assert.equal((await run.run()).status, 'succeeded');
    assert.deepEqual(acted, ['next', 'finally/tidy']);
  });

  it('is reported for the caller of the method that asked', async () => {
    const caller = methodOf('steps:\n  - name: inner\n    call: wf_inner\n');
    const run = new Attempts(caller, {
      callee: async () => ({ method: asking(''), versionId: 'ver_2' as const }),
      substitute: (action) => (action.step.kind === 'call' ? null : (acting([]).substitute?.(action) ?? null)),
    });
    run.finished.set('inner/ok', { status: 'failed', out: null, withheld: false, error });
    const end = await run.run();
    assert.equal(end.status === 'failed' && `${end.error.code} ${end.error.step}`, 'no_answer inner');
  });
});
