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

describe('each', () => {
  const method = (more = '') =>
    methodOf(
      `steps:
  - name: copy
    each: inputs.list
    as: contact
    at_once: 3
    in: { n: =contact }
    node: "return { n }"
    out: { n: integer }
    ${more}
result: { list: =steps.copy }`,
      'inputs: { list: list<integer> }',
    );
  const inputs = { list: [10, 11, 12, 13, 14] };
  const copying: Substitute = async ({ scope, round }) => {
    // The later ones end first.
    for (let turn = 0; turn < 10 - (round ?? 0); turn++) await new Promise((resolve) => setImmediate(resolve));
    return { out: { n: scope.items?.contact ?? null } };
  };

  it('keeps the order of its items, with a record for each round and one for the loop', async () => {
    const run = new Attempts(method(), { inputs, substitute: copying });
    assert.deepEqual(resultOf(await run.run()), { list: inputs.list.map((n) => ({ n })) });
    assert.deepEqual([...run.paths].sort(), ['copy', ...inputs.list.map((_, i) => `copy[${i}]`)]);
    assert.equal(run.paths.at(-1), 'copy');
    assert.deepEqual(run.record('copy[3]').out, { n: 13 });
  });

  it('runs as many rounds at once as it says', async () => {
    let running = 0;
    let most = 0;
    const run = new Attempts(method(), {
      inputs,
      substitute: async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return { out: { n: 1 } };
      },
    });
    resultOf(await run.run());
    assert.equal(most, 3);
  });

  it('starts no round after one failed, and lets those that run finish', async () => {
    const run = new Attempts(method(), {
      inputs,
      substitute: async (action) => (action.round === 1 ? { error: { kind: 'exit' } } : copying(action)),
    });
    assert.equal(errorOf(await run.run()).step, 'copy[1]');
    assert.equal(run.record('copy[0]').status, 'succeeded');
    assert.equal(run.record('copy[2]').status, 'succeeded');
    assert.ok(!run.paths.includes('copy[4]'));
    assert.equal(run.record('copy').status, 'failed');
  });

  it('leaves null where a round failed with on_error: continue, or was skipped', async () => {
    const run = new Attempts(method('on_error: continue\n    if: contact != 12'), {
      inputs,
      substitute: async (action) => (action.round === 1 ? { error: { kind: 'exit' } } : copying(action)),
    });
    assert.deepEqual(resultOf(await run.run()), { list: [{ n: 10 }, null, null, { n: 13 }, { n: 14 }] });
    assert.equal(run.record('copy[1]').error?.kind, 'exit');
    assert.equal(run.record('copy[2]').status, 'skipped');
    assert.deepEqual(resultOf(await run.run()), { list: [{ n: 10 }, null, null, { n: 13 }, { n: 14 }] });
  });

  it('is skipped as a whole where every round was, and is still a list of nulls to its readers', async () => {
    const run = new Attempts(method('if: contact > 99'), { inputs: { list: [1, 2] }, substitute: copying });
    assert.deepEqual(resultOf(await run.run()), { list: [null, null] });
    assert.deepEqual([run.record('copy').status, run.record('copy').out], ['skipped', null]);
    const { length } = run.records;
    assert.deepEqual(resultOf(await run.run()), { list: [null, null] });
    assert.equal(run.records.length, length, 'it is recorded once');
    const empty = new Attempts(method('if: contact > 99'), { inputs: { list: [] }, substitute: copying });
    assert.deepEqual(resultOf(await empty.run()), { list: [] });
    assert.equal(empty.record('copy').status, 'succeeded', 'nothing was skipped');
  });

  it('fails before its first round when its rounds are more than the steps left', async () => {
    const run = new Attempts(
      methodOf(
        `limits: { max_steps: 3 }
steps:
  - { name: copy, each: inputs.list, in: { n: =item }, node: "return { n }", out: { n: integer } }`,
        'inputs: { list: list<integer> }',
      ),
      { inputs, substitute: copying },
    );
    const error = errorOf(await run.run());
    assert.deepEqual([error.kind, run.paths], ['limit', ['copy']]);
  });
});

describe('repeat', () => {
  const method = methodOf(`steps:
  - name: pages
    repeat: { until: out.next == null, max: 4 }
    in: { at: =last?.next }
    node: "return { next: at }"
    out: { next: integer | null }
result: { pages: =steps.pages }`);

  it('ends when its condition holds, and each round sees the one before', async () => {
    const lasts: (JsonValue | undefined)[] = [];
    const run = new Attempts(method, {
      substitute: ({ scope, round = 0 }) => {
        lasts.push(scope.last);
        return { out: { next: round === 2 ? null : (round ?? 0) + 1 } };
      },
    });
    assert.deepEqual(resultOf(await run.run()), { pages: [{ next: 1 }, { next: 2 }, { next: null }] });
    assert.deepEqual(lasts, [null, { next: 1 }, { next: 2 }]);
    assert.deepEqual(run.paths, ['pages[0]', 'pages[1]', 'pages[2]', 'pages']);
  });

  it('ends at its bound of rounds', async () => {
    const run = new Attempts(method, { substitute: mocks({ pages: { next: 1 } }) });
    assert.equal((resultOf(await run.run()).pages as JsonValue[]).length, 4);
  });

  it('sleeps through a long delay between rounds, and does not begin it again', async () => {
    const polling = methodOf(`steps:
  - name: poll
    repeat: { until: out.done, max: 3, delay: 1h }
    node: "return { done: false }"
    out: { done: boolean }
result: { rounds: =steps.poll.length }`);
    let nowMs = 1_800_000_000_000;
    const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs, after: () => ({ cancel: () => {} }) };
    const run = new Attempts(polling, { clock, substitute: ({ round }) => ({ out: { done: round === 1 } }) });
    assert.deepEqual(
      { ...(await run.run()), lastRecord: 0 },
      { status: 'sleeping', untilMs: nowMs + 3_600_000, lastRecord: 0 },
    );
    nowMs += 1_800_000;
    assert.deepEqual(await run.run(), { status: 'sleeping', untilMs: nowMs + 1_800_000 });
    // Unless the clock was set back by more than it takes.
    nowMs -= 86_400_000;
    assert.deepEqual(await run.run(), { status: 'sleeping', untilMs: nowMs + 3_600_000 });
    nowMs += 3_600_000;
    assert.deepEqual(resultOf(await run.run()), { rounds: 2 });
  });
});

describe('max_steps', () => {
  it('bounds all rounds together', async () => {
    const method = methodOf(
      `limits: { max_steps: 4 }
steps:
  - name: loop
    repeat: { until: "false || inputs.stop", max: 100 }
    node: "return {}"`,
      'inputs: { stop: boolean }',
    );
    const run = new Attempts(method, { inputs: { stop: false }, substitute: mocks({}) });
    const error = errorOf(await run.run());
    assert.deepEqual([error.kind, error.step], ['limit', 'loop[4]']);
    assert.match(error.message, /more than 4 steps/);
  });
});
