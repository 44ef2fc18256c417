// What a service that others control could change in the grant of a run in device mode: a worker opens nothing that was
// changed or moved, ends no run that another worker could open, and takes no answer that was not given.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { ContentKey, type Place, type Sealed } from '@methods/content/device/content-key';
import { RunStatus, StepStatus } from '@methods/proto/run/v1/run_pb';
import { type Grant, GrantSchema } from '@methods/proto/worker/v1/worker_service_pb';
import type { WorkerItem } from '../scheduler-link.ts';
import { DeviceKeys } from './device-keys.ts';
import { contentOf } from './granted-content.ts';

const PART = 'A'.repeat(43);
const CONTENT_ID = '0123456789abcdef'.repeat(2);
const key = new ContentKey(PART, 'org_1');
const run = key.ofRun(CONTENT_ID);
const keys = new DeviceKeys(PART);
keys.learn({ orgId: 'org_1', keyId: 'key_1', contentGrants: [] }, { warn: () => undefined });

const text = (sealed: Sealed) => JSON.stringify(sealed);
const sealed = (kind: Place['kind'], step: string, value: unknown, by = run) =>
  text(by.sealJson({ kind, step }, value));

/** Of a run whose step `one` has ended, whose step `loop[0]` is begun, and whose question `q_2` is answered. */
function grant(changes: Partial<Record<'inputs' | 'out' | 'checkpoint' | 'answer' | 'ending', string>> = {}): Grant {
  const { inputs, out, checkpoint, answer, ending } = changes;
  return create(GrantSchema, {
    runId: 'run_1',
    method: 'wf_1',
    token: 'token',
    contentId: CONTENT_ID,
    deviceKeyId: 'key_1',
    inputsJson: inputs ?? sealed('inputs', '', { name: 'Ada' }),
    finishedSteps: [
      { path: 'one', status: StepStatus.SUCCEEDED, outJson: out ?? sealed('out', 'one', { a: 1 }) },
      {
        path: 'loop[0]',
        status: StepStatus.WAITING,
        outJson: checkpoint ?? sealed('out', 'checkpoint loop[0]', { until: 5 }),
      },
    ],
    answer: {
      questionId: 'q_2',
      step: 'ask',
      answerJson: answer ?? sealed('answer', 'q_2 ask', { go: true }),
    },
    ...(ending !== undefined && { ending: { code: 'step_failed', kind: 'code', message: ending, step: 'one' } }),
  } as never);
}

function opened(of: Grant, known = keys) {
  const sent: WorkerItem[] = [];
  const content = contentOf(of, known, { send: (item) => sent.push(item as WorkerItem) > 0 });
  return { content, reports: sent.map(({ item }) => item) };
}

/** Each byte of an envelope changed, by where it is. */
function* changed(json: string): Generator<[at: number, json: string]> {
  const bytes = Buffer.from((JSON.parse(json) as Sealed).$sealed, 'base64url');
  for (let at = 0; at < bytes.length; at++) {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 1;
    yield [at, text({ $sealed: copy.toString('base64url') })];
  }
}

describe('the grant of a run in device mode', () => {
  test('opens as it was sealed; what the service itself says is plain', () => {
    const { content, reports } = opened(grant({ ending: 'No answer within 3d' }));
    const { inputsJson, finishedSteps, answer, ending } = content?.grant ?? assert.fail();
    assert.deepEqual(
      [inputsJson, ...finishedSteps.map(({ outJson }) => outJson), answer?.answerJson, ending?.message],
      ['{"name":"Ada"}', '{"a":1}', '{"until":5}', '{"go":true}', 'No answer within 3d'],
    );
    assert.deepEqual(reports, []);
  });

  const other = key.ofRun('f'.repeat(32));
  const elsewhere = new ContentKey(PART, 'org_2').ofRun(CONTENT_ID);
  const moved: readonly [what: string, of: Grant, reason: 'damaged' | 'missing'][] = [
    ['inputs of another run', grant({ inputs: sealed('inputs', '', {}, other) }), 'damaged'],
    ['inputs of another organization', grant({ inputs: sealed('inputs', '', {}, elsewhere) }), 'missing'],
    ['an out as the inputs', grant({ inputs: sealed('out', '', {}) }), 'damaged'],
    ['plain inputs', grant({ inputs: '{"name":"Ada"}' }), 'damaged'],
    ['no JSON', grant({ inputs: '{' }), 'damaged'],
    ['the out of another step', grant({ out: sealed('out', 'two', { a: 1 }) }), 'damaged'],
    ['the out of the same step of another run', grant({ out: sealed('out', 'one', {}, other) }), 'damaged'],
    ['a plain out', grant({ out: '{"a":2}' }), 'damaged'],
    ['a question as an out', grant({ out: sealed('question', 'one', {}) }), 'damaged'],
    ['a checkpoint as an out', grant({ out: sealed('out', 'checkpoint one', {}) }), 'damaged'],
    ['an out as a checkpoint', grant({ checkpoint: sealed('out', 'loop[0]', {}) }), 'damaged'],
    ['the checkpoint of another round', grant({ checkpoint: sealed('out', 'checkpoint loop[1]', {}) }), 'damaged'],
    ['the message of another step', grant({ ending: sealed('text', 'two', 'No.') }), 'damaged'],
    ['a log as a message', grant({ ending: sealed('log', 'one', 'No.') }), 'damaged'],
  ];
  for (const [what, of, reason] of moved) {
    test(`does not open with ${what}`, () => {
      const { content, reports } = opened(of);
      assert.equal(content, null);
      assert.equal(reports.length, 1, 'the run is reported on once');
      const [report] = reports;
      if (reason === 'missing') {
        assert.ok(report?.case === 'giveBack');
        return assert.deepEqual([report.value.reason, report.value.cannotOpen], ['content_key_missing', true]);
      }
      assert.ok(report?.case === 'finish');
      const { status, error } = report.value;
      assert.deepEqual([status, error?.code, error?.kind], [RunStatus.FAILED, 'step_failed', 'input']);
      const message = run.openJson({ kind: 'text', step: '' }, JSON.parse(error?.message ?? ''));
      assert.match(String(message), /is damaged, or belongs to another run or place/);
    });
  }

  test('does not open with any byte of the inputs changed: by its key it is given back, else it fails', () => {
    for (const [at, inputs] of changed(sealed('inputs', '', { name: 'Ada' }))) {
      const { content, reports } = opened(grant({ inputs }));
      assert.equal(content, null, `byte ${at}`);
      const isKey = at >= 2 && at < 18;
      assert.deepEqual(
        reports.map((report) => report?.case),
        [isKey ? 'giveBack' : 'finish'],
        `byte ${at}`,
      );
    }
  });

  test('takes no answer that was changed, moved or given to another question: the step asks again', () => {
    const answers = [
      sealed('answer', 'q_1 ask', { go: true }),
      sealed('answer', 'q_2 other', { go: true }),
      sealed('answer', 'q_2 ask', { go: true }, other),
      sealed('out', 'q_2 ask', { go: true }),
      '{"go":true}',
      'null',
      ...Array.from(changed(sealed('answer', 'q_2 ask', { go: true })), ([, json]) => json),
    ];
    for (const answer of answers) {
      const { content, reports } = opened(grant({ answer }));
      assert.deepEqual([content?.grant.answer?.answerJson, reports], ['null', []]);
    }
  });

  test('is given back uncounted by a worker without the key, also if it is damaged', () => {
    const stranger = new DeviceKeys('B'.repeat(43));
    stranger.learn({ orgId: 'org_1', keyId: 'key_1', contentGrants: [] }, { warn: () => undefined });
    for (const [of, known] of [
      [grant(), stranger],
      [grant(), new DeviceKeys(undefined)],
      [grant({ inputs: '{}' }), new DeviceKeys(undefined)],
    ] as const) {
      const { content, reports } = opened(of, known);
      assert.equal(content, null);
      assert.ok(reports[0]?.case === 'giveBack' && reports[0].value.cannotOpen && reports.length === 1);
    }
  });
});
