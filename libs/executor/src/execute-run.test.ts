import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { compileMethod } from '@methods/method/compile';
import type { CompiledMethod } from '@methods/method/compiled-method';
import { until } from '@methods/test/harness/until';
import type { FinishedStep } from './execute-run.ts';
import { RunHarness } from './run-harness.fixture.ts';
import type { RunJournal, StepEnd } from './run-outcome.ts';
import type { RunnerPool } from './runner-pool.ts';
import type { RunnerJob } from './runners/runner-job.ts';

let harness: RunHarness;
before(async () => {
  harness = await RunHarness.start();
});
after(() => harness.stop());

function compiled(source: string): CompiledMethod {
  const { method, diagnostics } = compileMethod(source);
  assert.ok(method, JSON.stringify(diagnostics, null, 1));
  return method;
}

const refund = compiled(`format: method/2
name: refund
inputs: { amount: "number 0..5000", note?: string }
steps:
  - name: price
    in: [inputs.amount]
    node: |
      return { cents: Math.round(amount * 100) }
    out: { cents: integer }
  - name: approval
    if: inputs.amount > 100
    ask:
      question: Refund \${inputs.amount} EUR?
      details: That is \${steps.price.cents} cents.
      show: [steps.price, inputs.note]
    out: { decision: [approve, reject], note?: string 1..500 }
    limits: { timeout: 3d }
  - name: pay
    if: steps.approval == null || steps.approval.decision == "approve"
    in: { cents: =steps.price.cents, key: =run.id }
    node: |
      step.log(\`paying \${cents}\`)
      return { id: key + ":" + step.key.length, cents }
    out: { id: string, cents: integer }
result: { paid: =steps.pay != null, id: =steps.pay?.id, note: =steps.approval?.note }
`);

function step(status: FinishedStep['status'], out: FinishedStep['out'] = null, withheld = false): FinishedStep {
  return { status, out, withheld };
}

describe('a run', () => {
  it('walks its steps, skips those whose condition is false, and returns its result with the last record', async () => {
    const outcome = await harness.run(refund, { inputs: { amount: 50 }, runId: 'run_a' });
    assert.equal(outcome.status, 'succeeded', JSON.stringify(outcome));
    assert.deepEqual(outcome.status === 'succeeded' && outcome.result, { paid: true, id: 'run_a:32', note: null });
    assert.deepEqual(
      harness.records.map(({ path, kind, status, outJson }) => [path, kind, status, outJson]),
      [
        ['price', 'node', 'succeeded', '{"cents":5000}'],
        ['approval', 'ask', 'skipped', ''],
      ],
    );
    assert.equal(outcome.lastRecord?.path, 'pay');
    assert.equal(outcome.lastRecord?.log?.text, 'paying 5000\n');
    const { startedAtMs = 0, finishedAtMs = 0 } = outcome.lastRecord ?? {};
    assert.ok(startedAtMs > 1_700_000_000_000 && finishedAtMs >= startedAtMs);
  });

  it('stops at a question, and continues with its answer, without running a finished step again', async () => {
    const asked = await harness.run(refund, { inputs: { amount: 200, note: '<b>broken</b>' } });
    assert.ok(asked.status === 'waiting', JSON.stringify(asked));
    const { form, ...question } = asked.question;
    assert.deepEqual(question, {
      step: 'approval',
      prompt: 'Refund 200 EUR?',
      details: 'That is 20000 cents.',
      show: [
        { path: 'steps.price', value: { cents: 20000 } },
        { path: 'inputs.note', value: '<b>broken</b>' },
      ],
      timeoutMs: 259_200_000,
      timeoutText: '3d',
    });
    assert.deepEqual(form.required, ['decision']);
    assert.equal(harness.records.length, 0);
    assert.equal(asked.lastRecord?.path, 'price', 'it travels with the question');

    const value = { decision: 'approve', note: 'sorry' };
    const answered = await harness.run(refund, {
      inputs: { amount: 200 },
      finished: new Map([['price', step('succeeded', { cents: 7 })]]),
      answer: { questionId: 'q_1', step: 'approval', value },
      runId: 'run_b',
    });
    assert.deepEqual(answered.status === 'succeeded' && answered.result, { paid: true, id: 'run_b:32', note: 'sorry' });
    assert.deepEqual(
      harness.records.map((record) => [record.path, record.status, record.out]),
      [['approval', 'succeeded', value]],
    );
    assert.deepEqual(answered.lastRecord?.out, { id: 'run_b:32', cents: 7 }, 'the kept out was used');
  });

  it('keeps skipped steps skipped, and ends with nothing to record when all is finished', async () => {
    const finished = new Map([
      ['price', step('succeeded', { cents: 1 })],
      ['approval', step('skipped')],
      ['pay', step('succeeded', { id: 'x', cents: 1 })],
    ]);
    const outcome = await harness.run(refund, { inputs: { amount: 50 }, finished });
    assert.deepEqual(outcome, { status: 'succeeded', result: { paid: true, id: 'x', note: null } });
  });

  it('fails when a step had failed in an attempt that could not report it', async () => {
    const outcome = await harness.run(refund, {
      inputs: { amount: 50 },
      finished: new Map([['price', step('failed')]]),
    });
    assert.equal(outcome.status === 'failed' && outcome.error.code, 'step_failed');
  });

  it('starts a step only when all records before it are acknowledged', async () => {
    const order: string[] = [];
    let acknowledge = () => {};
    const journal: RunJournal = {
      stepEnded: (record) =>
        new Promise((resolve) => {
          order.push(`record ${record.path}`);
          acknowledge = () => {
            order.push(`ack ${record.path}`);
            resolve();
          };
        }),
    };
    const runners = {
      run(job: RunnerJob) {
        order.push(`run ${job.step}`);
        return harness.runners.run(job);
      },
    };
    const run = harness.run(refund, {
      inputs: { amount: 200 },
      finished: new Map([['price', step('succeeded', { cents: 7 })]]),
      answer: { questionId: 'q_1', step: 'approval', value: { decision: 'approve' } },
      journal,
      runners: runners as RunnerPool,
    });
    await until('a step began', () => order.length > 0);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(order, ['record approval']);
    acknowledge();
    assert.equal((await run).status, 'succeeded');
    assert.deepEqual(order, ['record approval', 'ack approval', 'run pay']);
  });

  it('stops without an outcome when a record is refused', async () => {
    const journal: RunJournal = { stepEnded: () => Promise.reject(new Error('stale_attempt')) };
    assert.deepEqual(await harness.run(refund, { inputs: { amount: 50 }, journal }), { status: 'stopped' });
  });

  it('ends the step that runs when it is stopped, and records nothing', async () => {
    const endless = compiled(`format: method/2
name: endless
steps:
  - name: loop
    node: |
      console.log('in'); for (;;) {}
`);
    const abort = new AbortController();
    const run = harness.run(endless, { signal: abort.signal });
    await until('the runners are as many', () => harness.runners.size > 0);
    abort.abort();
    assert.deepEqual(await run, { status: 'stopped' });
    assert.deepEqual(harness.records, []);
    assert.deepEqual(await harness.run(endless, { signal: AbortSignal.abort() }), { status: 'stopped' });
  });

  it('fails with the step, its kind and its line in the source', async () => {
    const outcome = await harness.run(
      compiled(`format: method/2
name: failing
inputs: { list: list<integer> }
steps:
  - name: divide
    in: { share: "=1 / inputs.list.length" }
    node: |
      if (share < 1)
        throw new Error('too small')
      return { share }
    out: { share: number }
  - name: after
    node: return {}
`),
      { inputs: { list: [1, 2] } },
    );
    assert.ok(outcome.status === 'failed');
    assert.deepEqual(outcome.error, { code: 'step_failed', kind: 'exception', message: 'too small', step: 'divide' });
    assert.equal(outcome.lastRecord?.error?.line, 9);
    assert.equal(outcome.lastRecord?.status, 'failed');
  });

  it('fails with kind expression when a value cannot be computed', async () => {
    const source = `format: method/2
name: dividing
inputs: { list: list<integer> }
steps:
  - name: divide
    in: { share: "=1 / inputs.list.length" }
    node: return {}
`;
    const outcome = await harness.run(compiled(source), { inputs: { list: [] } });
    assert.equal(outcome.status === 'failed' && outcome.error.kind, 'expression');
    assert.equal(outcome.lastRecord?.error?.line, 5);
  });

  it('fails with check_failed after a failed check', async () => {
    const source = `format: method/2
name: checking
steps:
  - name: look
    node: step.check('The build has an index', false)
`;
    const outcome = await harness.run(compiled(source));
    assert.ok(outcome.status === 'failed');
    assert.deepEqual([outcome.error.code, outcome.error.kind], ['check_failed', 'check']);
    assert.equal(outcome.lastRecord?.checks[0]?.status, 'failed');
  });

  it('ends at the time limit of the whole run', async () => {
    const source = `format: method/2
name: slow
limits: { run_timeout: 1s }
steps:
  - name: wait
    node: await new Promise(() => {})
`;
    const outcome = await harness.run(compiled(source));
    assert.ok(outcome.status === 'failed');
    assert.equal(outcome.error.kind, 'timeout');
    assert.match(outcome.error.message, /run's time limit/);
  });

  it('refuses a result above 1 MiB', async () => {
    const source = `format: method/2
name: large
steps:
  - name: make
    node: "return { a: 'x'.repeat(700000) }"
    out: { a: string }
    limits: { output_kb: 1024 }
result: { a: =steps.make.a, b: =steps.make.a }
`;
    const outcome = await harness.run(compiled(source));
    assert.ok(outcome.status === 'failed', JSON.stringify(outcome).slice(0, 300));
    assert.deepEqual([outcome.error.code, outcome.error.kind], ['result_invalid', 'limit']);
  });
});

describe("a run's secrets", () => {
  const canary = 'c4n4ry-7f3e9b1d-5a6c-8e2f';
  const secrets = new Map([['TOKEN', canary]]);
  const using = (code: string, more = '', rest = '') =>
    compiled(`format: method/2
name: secretive
secrets: [TOKEN]
steps:
  - name: only
    secrets: [TOKEN]
    node: |
      const token = process.env.TOKEN
      ${code}
    ${more}
${rest}`);
  const noCanary = (value: unknown) => {
    const text = JSON.stringify(value);
    assert.ok(!text.includes(canary) && !text.includes(Buffer.from(canary).toString('base64').slice(0, -4)), text);
  };

  it('must be set and long enough before the first step', async () => {
    const method = using('return {}');
    const missing = await harness.run(method);
    assert.equal(missing.status === 'failed' && missing.error.code, 'secret_missing');
    const short = await harness.run(method, { secrets: new Map([['TOKEN', 'five5']]) });
    assert.equal(short.status === 'failed' && short.error.code, 'secret_too_short');
    assert.equal(short.lastRecord, undefined);
    assert.equal((await harness.run(method, { secrets })).status, 'succeeded');
  });

  it('are masked in logs, errors, stacks and checks', async () => {
    const thrown = await harness.last(
      using("console.log(token, btoa(token)); step.log(token); throw new Error('x ' + token)"),
      {
        secrets,
      },
    );
    noCanary(thrown);
    assert.equal(thrown.error?.message, 'x ***TOKEN***');
    // What is printed and what is logged come in any order.
    assert.equal(thrown.log?.text.match(/\*\*\*TOKEN\*\*\*/g)?.length, 3, thrown.log?.text);
    const checked = await harness.last(
      using("step.check('is ' + token, true, { actual: { [token]: token }, message: token })"),
      {
        secrets,
      },
    );
    noCanary(checked);
    assert.equal(checked.checks[0]?.name, 'is ***TOKEN***');
  });

  it('fail the step whose out contains one, in any spelling', async () => {
    for (const code of [
      'return { a: token }',
      'return { a: btoa("user:" + token) }',
      'return { a: encodeURIComponent(token) + "!" }',
    ]) {
      const record: StepEnd = await harness.last(using(code, 'out: { a: string }'), { secrets });
      assert.deepEqual([record.status, record.error?.kind, record.out], ['failed', 'secret', null]);
      noCanary(record);
    }
  });

  it('may pass between steps in fields of type secret, which are never recorded', async () => {
    const method = using(
      'return { session: token + "-session", plain: 1 }',
      'out: { session: secret, plain: integer }',
      `  - name: next
    in: [steps.only.session]
    node: |
      return { length: session.length }
    out: { length: integer }
result: { length: =steps.next.length }
`,
    );
    const outcome = await harness.run(method, { secrets });
    assert.deepEqual(outcome.status === 'succeeded' && outcome.result, { length: canary.length + 8 });
    const [record] = harness.records;
    assert.deepEqual([record?.status, record?.out, record?.outJson, record?.withheld], ['succeeded', null, '', true]);
    const again = await harness.run(method, { secrets, finished: new Map([['only', step('succeeded', null, true)]]) });
    assert.equal(again.status, 'succeeded', 'the step ran again, as its out was not kept');
  });
});
