import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonValue } from '@methods/method/json';
import type { RunOutcome } from '../run-outcome.ts';
import type { Substitute, Substitution } from '../substitute.ts';
import { Attempts, methodOf } from './attempts.fixture.ts';

/** Replaces every step's action: with a value, or the value of a function of the action. */
function mocks(table: Record<string, JsonValue | ((...of: Parameters<Substitute>) => Substitution)>): Substitute {
  return (action) => {
    const mock = table[action.step.name];
    if (typeof mock === 'function') return mock(action);
    return { out: mock ?? {} };
  };
}

function resultOf(outcome: RunOutcome) {
  assert.equal(outcome.status, 'succeeded', JSON.stringify(outcome));
  return outcome.status === 'succeeded' ? outcome.result : {};
}

function errorOf(outcome: RunOutcome) {
  assert.ok(outcome.status === 'failed', JSON.stringify(outcome));
  return outcome.error;
}

describe('groups', () => {
  const method = methodOf(
    `steps:
  - name: outer
    if: inputs.wanted
    steps:
      - name: first
        node: "return { n: 1 }"
        out: { n: integer }
      - name: second
        in: [steps.first.n]
        node: "return { n: n + 1 }"
        out: { n: integer }
    result: { sum: =steps.first.n + steps.second.n }
result: { sum: =steps.outer?.sum, first: =steps.first?.n }`,
    'inputs: { wanted: boolean }',
  );
  const substitute = mocks({ first: { n: 1 }, second: { n: 2 } });

  it('record the steps inside them below their path, and themselves when they end', async () => {
    const run = new Attempts(method, { inputs: { wanted: true }, substitute });
    assert.deepEqual(resultOf(await run.run()), { sum: 3, first: 1 });
    assert.deepEqual(run.paths, ['outer/first', 'outer/second', 'outer']);
    assert.deepEqual(run.record('outer').out, { sum: 3 });
    assert.deepEqual(resultOf(await run.run()), { sum: 3, first: 1 }, 'kept, with the names inside');
    assert.equal(run.records.length, 3, 'nothing is recorded twice');
  });

  it('are skipped as a whole', async () => {
    const run = new Attempts(method, { inputs: { wanted: false }, substitute });
    assert.deepEqual(resultOf(await run.run()), { sum: null, first: null });
    assert.deepEqual(run.paths, ['outer']);
  });

  it('fail with the step inside them, which is the one that the run names', async () => {
    const failing = mocks({ first: () => ({ error: { kind: 'exit', message: 'broken' } }) });
    const run = new Attempts(method, { inputs: { wanted: true }, substitute: failing });
    const error = errorOf(await run.run());
    assert.deepEqual(error, { code: 'step_failed', kind: 'exit', message: 'broken', step: 'outer/first' });
    assert.deepEqual(run.paths, ['outer/first', 'outer']);
    assert.equal(run.record('outer').status, 'failed');
  });
});

describe('parallel steps', () => {
  const method = methodOf(`steps:
  - name: both
    parallel:
      - name: slow
        node: "return { n: 1 }"
        out: { n: integer }
      - name: quick
        node: "return { n: 2 }"
        out: { n: integer }
result: { sum: =steps.slow.n + steps.quick.n }`);

  it('run side by side, and their names are visible afterwards', async () => {
    const order: string[] = [];
    const gate = { open: () => {} };
    const opened = new Promise<void>((resolve) => {
      gate.open = resolve;
    });
    const run = new Attempts(method, {
      substitute: async ({ step }) => {
        order.push(`start ${step.name}`);
        if (step.name === 'slow') await opened;
        else gate.open();
        order.push(`end ${step.name}`);
        return { out: { n: step.name === 'slow' ? 1 : 2 } };
      },
    });
    assert.deepEqual(resultOf(await run.run()), { sum: 3 });
    assert.deepEqual(order.slice(0, 2), ['start slow', 'start quick']);
    assert.equal(run.paths.at(-1), 'both');
  });

  it('let the others finish when one fails', async () => {
    const run = new Attempts(method, {
      substitute: async ({ step }) => {
        if (step.name === 'slow') return { error: { kind: 'exception' } };
        await new Promise((resolve) => setImmediate(resolve));
        return { out: { n: 2 } };
      },
    });
    assert.equal(errorOf(await run.run()).step, 'both/slow');
    assert.equal(run.record('both/quick').status, 'succeeded');
    assert.equal(run.record('both').status, 'failed');
  });
});

describe('questions in branches', () => {
  const method = methodOf(`steps:
  - name: both
    parallel:
      - name: left
        steps:
          - { name: work, node: "return {}" }
          - { name: one, ask: First?, out: { yes: boolean } }
      - { name: two, ask: Second?, out: { yes: boolean } }
result: { one: =steps.one.yes, two: =steps.two.yes }`);

  it('are asked when every branch is at rest, one at a time, in file order', async () => {
    let worked = 0;
    const run = new Attempts(method, {
      substitute: async ({ step }) => {
        if (step.kind === 'ask') return null;
        await new Promise((resolve) => setImmediate(resolve));
        worked++;
        return { out: {} };
      },
    });
    const asked = await run.run();
    assert.equal(asked.status === 'waiting' && asked.question.step, 'both/left/one');
    assert.equal(worked, 1);
    const next = await run.answer('both/left/one', { yes: true });
    assert.equal(next.status === 'waiting' && next.question.step, 'both/two');
    assert.deepEqual(resultOf(await run.answer('both/two', { yes: false })), { one: true, two: false });
    assert.equal(worked, 1, 'what was finished did not run again');
  });
});

describe('checks', () => {
  it('are all evaluated and recorded, with the values they read, before the first failed one counts', async () => {
    const method = methodOf(
      `steps:
  - name: order
    node: "return { total: 5 }"
    out: { total: integer }
    require:
      - Something is wanted: inputs.amount > 0
    ensure:
      - Enough is left: out.total >= inputs.amount
      - { name: It is even, that: out.total % 2 == 0, level: warn }
      - { name: It is cheap, that: out.total < 3, message: "= 'it is ' + text(out.total)" }`,
      'inputs: { amount: integer }',
    );
    const run = new Attempts(method, { inputs: { amount: 7 }, substitute: mocks({ order: { total: 5 } }) });
    const error = errorOf(await run.run());
    assert.deepEqual(
      [error.code, error.kind, error.message],
      ['check_failed', 'check', 'Check failed: Enough is left'],
    );
    assert.deepEqual(
      run
        .record('order')
        .checks.map(({ name, phase, status, message, values }) => [name, phase, status, message, values]),
      [
        ['Something is wanted', 'require', 'passed', null, { 'inputs.amount': 7 }],
        ['Enough is left', 'ensure', 'failed', null, { 'inputs.amount': 7, 'out.total': 5 }],
        ['It is even', 'ensure', 'warned', null, { 'out.total': 5 }],
        ['It is cheap', 'ensure', 'failed', 'it is 5', { 'out.total': 5 }],
      ],
    );
  });

  it('stop a step before it acts', async () => {
    const method = methodOf(
      `steps:
  - name: pay
    node: "return {}"
    require:
      - Never: inputs.amount > 100`,
      'inputs: { amount: integer }',
    );
    let acted = false;
    const run = new Attempts(method, {
      inputs: { amount: 7 },
      substitute: () => {
        acted = true;
        return { out: {} };
      },
    });
    assert.equal(errorOf(await run.run()).code, 'check_failed');
    assert.equal(acted, false);
  });

  it('can be a step of their own, and of the method, with a name no step can have', async () => {
    const method = methodOf(
      `require:
  - Asked for some: inputs.amount > 0
steps:
  - name: sane
    check:
      - Few: inputs.amount < 10
ensure:
  - Few again: inputs.amount < 5`,
      'inputs: { amount: integer }',
    );
    const run = new Attempts(method, { inputs: { amount: 7 } });
    const error = errorOf(await run.run());
    assert.deepEqual(error, { code: 'check_failed', kind: 'check', message: 'Check failed: Few again' });
    assert.deepEqual(
      run.records.map(({ path, kind, status, checks }) => [path, kind, status, checks[0]?.phase]),
      [
        ['@require', 'check', 'succeeded', 'require'],
        ['sane', 'check', 'succeeded', 'step'],
        ['@ensure', 'check', 'failed', 'ensure'],
      ],
    );
  });
});

describe('on_failure and finally', () => {
  const method = methodOf(
    `steps:
  - { name: work, node: "return { n: 1 }", out: { n: integer } }
  - { name: risky, node: "return {}" }
on_failure:
  - { name: tell, ask: "\${failure.step} failed: \${failure.message} (\${failure.kind}) \${steps.work.n}", out: { ok: boolean } }
finally:
  - { name: tidy, node: "return {}" }
result: { n: =steps.work.n }`.replace('${steps.work.n}', '${steps.work?.n ?? 0}'),
  );
  const acted: string[] = [];
  const substitute =
    (fails: boolean): Substitute =>
    ({ step, path }) => {
      if (step.kind === 'ask') return null;
      acted.push(path);
      if (step.name === 'risky' && fails) return { error: { kind: 'exit', message: 'boom' } };
      return { out: { n: 1 } };
    };

  it('follow a failure, which a resume among them does not forget', async () => {
    acted.length = 0;
    const run = new Attempts(method, { substitute: substitute(true) });
    const asked = await run.run();
    assert.equal(
      asked.status === 'waiting' && asked.question.prompt,
      'risky failed: boom (exit) 1',
      JSON.stringify(asked),
    );
    assert.equal(asked.status === 'waiting' && asked.question.step, 'on_failure/tell');
    const error = errorOf(await run.answer('on_failure/tell', { ok: true }));
    assert.deepEqual(error, { code: 'step_failed', kind: 'exit', message: 'boom', step: 'risky' });
    assert.deepEqual(acted, ['work', 'risky', 'finally/tidy']);
  });

  it('only finally follows a success, and its failure fails the run', async () => {
    acted.length = 0;
    const run = new Attempts(method, { substitute: substitute(false) });
    assert.deepEqual(resultOf(await run.run()), { n: 1 });
    assert.deepEqual(acted, ['work', 'risky', 'finally/tidy']);
    const untidy = new Attempts(method, {
      substitute: ({ step }) => (step.name === 'tidy' ? { error: { kind: 'exit' } } : { out: { n: 1 } }),
    });
    assert.equal(errorOf(await untidy.run()).step, 'finally/tidy');
  });

  it('do not follow a cancel', async () => {
    acted.length = 0;
    const abort = new AbortController();
    const run = new Attempts(method, {
      signal: abort.signal,
      substitute: ({ path }) => {
        acted.push(path);
        if (path === 'risky') abort.abort();
        return { out: { n: 1 } };
      },
    });
    assert.deepEqual(await run.run(), { status: 'stopped' });
    assert.deepEqual(acted, ['work', 'risky']);
  });
});
