import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '@methods/method/json';
import { type InspectedRun, inspectionOf } from './inspection.ts';
import { JournalEvents } from './journal-events.ts';
import { RunHarness } from './run-harness.fixture.ts';
import type { StepEnd } from './run-outcome.ts';
import { stepKey } from './step-context.ts';
import { methodOf } from './walk/attempts.fixture.ts';

let harness: RunHarness;
before(async () => {
  harness = await RunHarness.start();
});
after(() => harness.stop());

/** Real steps, one of which fails once. */
const method = methodOf(
  `steps:
  - name: rounds
    each: inputs.list
    at_once: 2
    in: { n: =item }
    node: |
      step.log('round ' + n)
      if (step.try === 1 && n === 2) throw new Error('not yet')
      step.check('It is a number', typeof n === 'number', { actual: n })
      return { twice: n * 2, raw: 1 }
    retry: { max: 1, delay: 10ms }
    out: { twice: integer }
    ensure:
      - It doubled: out.twice == item * 2
  - { name: never, if: inputs.list.length > 5, node: "return {}" }
  - name: sane
    check:
      - Two rounds: steps.rounds.length == 2
result: { list: =steps.rounds }`,
  'inputs: { list: list<integer> }',
);

function inspected(records: readonly StepEnd[], more: Partial<InspectedRun> = {}): JsonObject {
  return inspectionOf({
    runId: 'run_x',
    versionId: 'ver_x',
    sha256: 'ab',
    lockSha256: null,
    status: 'succeeded',
    attempt: 1,
    startedAtMs: 0,
    endedAtMs: 1000,
    worker: { id: 'wrk_1', version: '0.1.0', platform: 'linux-x64' },
    records,
    open: [],
    question: null,
    result: null,
    error: null,
    ...more,
  });
}

describe('an inspection', () => {
  it('separates actions and checks, with tries, dropped fields and the end of the log', async () => {
    const lines: string[] = [];
    const events = new JournalEvents({ runId: 'run_x', attempt: 1, wallMs: () => 0 }, (line) => lines.push(line));
    const outcome = await harness.run(method, { inputs: { list: [1, 2] }, observer: events });
    assert.equal(outcome.status, 'succeeded', JSON.stringify(outcome));
    const records = [...harness.records, ...(outcome.lastRecord === undefined ? [] : [outcome.lastRecord])];
    const { actions, checks, ...rest } = inspected(records) as unknown as {
      actions: (JsonObject & { path: string; tries: JsonObject[] })[];
      checks: JsonObject[];
    } & JsonObject;
    assert.deepEqual(actions.map(({ path, status, reason }) => [path, status, reason]).sort(), [
      ['never', 'skipped', 'if was false'],
      ['rounds', 'succeeded', null],
      ['rounds[0]', 'succeeded', null],
      ['rounds[1]', 'succeeded', null],
    ]);
    const retried = actions.find(({ path }) => path === 'rounds[1]');
    assert.equal(retried?.key, stepKey('run_x', 'rounds[1]'));
    assert.deepEqual(retried?.out, { twice: 4 });
    assert.deepEqual(retried?.dropped, ['raw']);
    assert.deepEqual((retried?.log as JsonObject | undefined)?.tail, ['round 2']);
    assert.deepEqual(
      retried?.tries.map(({ error }) => (error as JsonObject | null)?.message ?? null),
      ['not yet', null],
    );
    const kinds = checks.map(({ path, phase, ok, level, values }) => [path, phase, ok, level, values]);
    assert.deepEqual(kinds.at(-1), ['sane', 'step', true, 'error', { 'steps.rounds.length': 2 }]);
    assert.ok(kinds.some(([path, phase]) => path === 'rounds[0]' && phase === 'code'));
    assert.ok(kinds.some(([path, phase]) => path === 'rounds[1]' && phase === 'ensure'));
    assert.equal(rest.format, 'inspection/1');
    assert.equal(rest.cut, undefined);

    const told = lines.map((line) => JSON.parse(line) as { seq: number; type: string; path: string });
    assert.deepEqual(
      told.map(({ seq }) => seq),
      lines.map((_, at) => at + 1),
    );
    const types = told.filter(({ path }) => path === 'rounds[1]').map(({ type }) => type);
    for (const type of ['step.started', 'step.retrying', 'log.appended', 'check.recorded', 'step.finished']) {
      assert.ok(types.includes(type), `${type} in ${types.join(' ')}`);
    }
    assert.ok(told.some(({ type, path }) => type === 'step.skipped' && path === 'never'));
  });

  it('stays within 4 MiB, for any records', () => {
    const record = (at: number): StepEnd => ({
      path: `s[${at}]`,
      kind: 'node',
      status: 'succeeded',
      startedAtMs: 0,
      finishedAtMs: 1,
      out: { text: 'x'.repeat(2000) },
      outJson: '',
      withheld: false,
      checks: [
        { name: 'c', phase: 'ensure', status: 'passed', message: null, actual: null, values: { a: 'y'.repeat(900) } },
      ],
      tries: [{ startedAtMs: 0, finishedAtMs: 1, error: null }],
      error: null,
      dropped: [],
      log: { bytes: 9000, cut: false, text: 'line\n'.repeat(1800) },
    });
    const many = (count: number) => Array.from({ length: count }, (_, at) => record(at));
    for (const [count, cut] of [
      [100, undefined],
      [1200, ['logs']],
      [2500, ['logs', 'outs']],
      [6000, ['logs', 'outs', 'values']],
      [30_000, ['logs', 'outs', 'values']],
    ] as const) {
      const document = inspected(many(count), { result: { a: 'z'.repeat(1000) } });
      assert.ok(JSON.stringify(document).length <= 4 * 1024 * 1024, `${count} records`);
      assert.deepEqual(document.cut, cut, `${count} records`);
    }
  });
});
