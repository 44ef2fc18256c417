import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { canonicalDigest } from '@methods/base/canonical';
import { StepStatus } from '@methods/proto/run/v1/run_pb';
import { until } from '@methods/test/harness/until';
import { largeQuestion, requestSteps } from './test-methods.fixture.ts';
import { TestWorker } from './test-worker.fixture.ts';
import { type TestRun, WorkerNode } from './worker-node.fixture.ts';

let node: WorkerNode;
beforeEach(async () => {
  node = await WorkerNode.start();
});
afterEach(() => node.stop());

function kinds({ recorded }: TestRun): string[] {
  return recorded.map(({ case: kind }) => kind);
}

/** The code, kind and message of the run's failure. */
function failure({ recorded }: TestRun): string[] {
  const last = recorded.at(-1);
  if (last?.case !== 'finish' || last.value.error === undefined) return [];
  const { code, kind, message } = last.value.error;
  return [code, kind, message];
}

describe('the reports of a run', () => {
  it('are numbered, carry the token, and end with the result', async () => {
    await using started = await TestWorker.start(node);
    const run = node.grant({ versionId: node.publish(requestSteps('first', 'second')) });
    (await started.request('first')).answer({ n: 1 });
    (await started.request('second')).answer({ n: 2 });
    await until('the run has ended', () => run.ended);
    assert.deepEqual(kinds(run), ['stepRecord', 'stepRecord', 'finish']);
    assert.deepEqual(
      run.recorded.map(({ value }) => [value.seq, value.token]),
      [1, 2, 3].map((seq) => [seq, run.token]),
    );
    const [first, , end] = run.recorded;
    assert.equal(first?.case === 'stepRecord' && first.value.outJson, '{"n":1}');
    assert.equal(end?.case === 'finish' && end.value.resultJson, '{"n":2}');
  });

  it('are acknowledged before the next step begins', async () => {
    await using started = await TestWorker.start(node);
    node.acknowledges = false;
    const run = node.grant({ versionId: node.publish(requestSteps('first', 'second')) });
    (await started.request('first')).answer({ n: 1 });
    await until('the record is there', () => run.recorded.length === 1);
    // The worker would have begun the next step by now: a heartbeat has made a round trip.
    const before = node.stream.heartbeats.length;
    started.clock.forward(15_000);
    await until('a heartbeat came', () => node.stream.heartbeats.length > before);
    assert.deepEqual(node.story, ['step first begins', 'record first']);
    node.acknowledge();
    (await started.request('second')).answer({ n: 2 });
    await until('the run has ended', () => run.ended);
  });

  it('of a later attempt are not acknowledged by a late message of an earlier one', async () => {
    await using started = await TestWorker.start(node);
    node.acknowledges = false;
    const versionId = node.publish(requestSteps('first', 'second'));
    const earlier = node.grant({ versionId });
    await started.request('first');
    const run = node.grant({ versionId, runId: earlier.runId });
    (await started.request('first')).answer({ n: 1 });
    await until('the record is there', () => run.recorded.length === 1);
    node.stream.send({ item: { case: 'ack', value: { runId: run.runId, seq: 1, token: earlier.token } } });
    const before = node.stream.heartbeats.length;
    started.clock.forward(15_000);
    await until('a heartbeat came', () => node.stream.heartbeats.length > before);
    assert.deepEqual(node.story, ['step first begins', 'step first begins', 'record first']);
    node.acknowledge();
    (await started.request('second')).answer({ n: 2 });
    await until('the run has ended', () => run.ended);
  });

  it('are repeated when no acknowledgement arrives', async () => {
    await using started = await TestWorker.start(node);
    node.acknowledges = false;
    const run = node.grant({ versionId: node.publish(requestSteps('first', 'second')) });
    (await started.request('first')).answer({ n: 1 });
    await until('the record is there', () => run.recorded.length === 1);
    node.forgetAcknowledgements();
    started.clock.forward(4_000);
    (await started.request('second')).answer({ n: 2 });
    await until('the run has ended', () => run.ended);
    // The last step's record and the end are one report.
    assert.deepEqual(
      node.reports.map(({ value }) => value.seq),
      [1, 1, 3],
    );
  });

  it('are sent separately to a node that accepts no record within another report, even if it connects later', async () => {
    node.features = [];
    await using started = await TestWorker.start(node);
    node.acknowledges = false;
    const run = node.grant({ versionId: node.publish(requestSteps('only')) });
    (await started.request('only')).answer({ n: 1 });
    await until('the run has ended', () => run.ended);
    const seqs = () => node.reports.map(({ value }) => value.seq);
    assert.deepEqual(seqs(), [1, 2]);
    node.features = ['last_record'];
    node.forgetAcknowledgements();
    node.stream.cut();
    await until('the worker is back', () => node.streams.length === 2 && node.stream.welcomed);
    await until('both are repeated as one', () => node.reports.length === 3);
    assert.deepEqual(seqs(), [1, 2, 2]);
    assert.deepEqual(kinds(run), ['stepRecord', 'finish']);
  });

  it('carry the last record with a question and with a sleep', async () => {
    await using started = await TestWorker.start(node);
    const source = `format: method/2
name: asks
steps:
  - name: look
    http: { get: "http://steps.test/look" }
  - name: ok
    ask: Sure?
    out: { ok: boolean }
`;
    const asking = node.grant({ versionId: node.publish(source) });
    (await started.request('look')).answer({});
    await until('the run waits', () => asking.ended);
    const asks = source.indexOf('  - name: ok');
    const sleepy = node.publish(`${source.slice(0, asks)}  - name: later\n    wait: 2h\n`);
    const sleeping = node.grant({ versionId: sleepy });
    (await started.request('look')).answer({});
    await until('the run sleeps', () => sleeping.ended);
    assert.deepEqual(
      node.reports.map(({ case: kind }) => kind).filter((kind) => kind !== 'stepRecord'),
      ['ask', 'sleep'],
    );
    assert.equal(asking.recorded.length, 2);
    const [ask] = node.reports;
    assert.ok(ask?.case === 'ask' && ask.value.lastRecord?.step?.path === 'look');
    assert.deepEqual([ask.value.lastRecord.seq, ask.value.seq], [1, 2]);
  });

  it('skip steps that the grant lists as finished', async () => {
    await using started = await TestWorker.start(node);
    const finishedSteps = [{ path: 'first', status: StepStatus.SUCCEEDED, outJson: '{"n":1}' }];
    const run = node.grant({ versionId: node.publish(requestSteps('first', 'second')), finishedSteps });
    (await started.request('second')).answer({ n: 2 });
    await until('the run has ended', () => run.ended);
    assert.deepEqual(node.story, ['step second begins', 'record second', 'finish']);
  });

  it('give the reason of a step that failed in an earlier attempt', async () => {
    await using started = await TestWorker.start(node);
    const source = `format: method/2
name: branches
steps:
  - name: both
    parallel:
      - name: left
        http: { get: "http://steps.test/left" }
      - name: right
        http: { get: "http://steps.test/right" }
`;
    const error = { kind: 'http', message: 'The server said 503', status: 503, line: 6 };
    const finishedSteps = [{ path: 'both/left', status: StepStatus.FAILED, error }];
    const run = node.grant({ versionId: node.publish(source), finishedSteps });
    (await started.request('right')).answer({});
    await until('the run has ended', () => run.ended);
    assert.deepEqual(failure(run), ['step_failed', 'http', 'The server said 503']);
    const both = run.recorded.find((item) => item.case === 'stepRecord' && item.value.step?.path === 'both');
    const { kind, message, status, line } = (both?.case === 'stepRecord' && both.value.step?.error) || {};
    assert.deepEqual({ kind, message, status, line }, error);
  });

  it('stop with the run when its token is stale', async () => {
    await using started = await TestWorker.start(node);
    const run = node.grant({ versionId: node.publish(requestSteps('first', 'second')) });
    const request = await started.request('first');
    node.refusal = () => 'stale_attempt';
    request.answer({ n: 1 });
    await until('the place is free again', () => node.stream.free === 2);
    node.refusal = () => null;
    started.clock.forward(15_000);
    assert.deepEqual(await until('a heartbeat came', () => node.stream.heartbeats.at(-1)), []);
    assert.deepEqual(node.story, ['step first begins']);
    assert.equal(node.reports.length, 1);
    assert.deepEqual(run.recorded, []);
  });

  it('end with a failure when one of them cannot be stored', async () => {
    await using started = await TestWorker.start(node);
    node.refusal = (report) => (report.case === 'stepRecord' ? 'invalid_request' : null);
    const run = node.grant({ versionId: node.publish(requestSteps('first', 'second')) });
    (await started.request('first')).answer({ n: 1 });
    await until('the run has ended', () => run.ended);
    assert.deepEqual(failure(run), ['step_failed', 'internal', 'A report of the run could not be stored']);
    assert.equal(run.recorded[0]?.value.seq, 1);
    assert.deepEqual(node.story, ['step first begins', 'finish']);
  });

  it('end with a failure when the last record and the report after it are both refused', async () => {
    for (const features of [[], ['last_record']]) {
      node.features = features;
      await using started = await TestWorker.start(node);
      node.refusal = ({ value, case: kind }) =>
        kind === 'stepRecord' || (kind === 'finish' && value.error === undefined) ? 'invalid_request' : null;
      const run = node.grant({ versionId: node.publish(requestSteps('only')) });
      (await started.request('only')).answer({ n: 1 });
      await until('the run has ended', () => run.ended);
      assert.deepEqual(failure(run), ['step_failed', 'internal', 'A report of the run could not be stored']);
      assert.deepEqual([run.recorded.length, run.recorded[0]?.value.seq], [1, 1]);
    }
  });

  it('end with the reason when a question is refused, and carry the hash of its form', async () => {
    await using _started = await TestWorker.start(node);
    node.refusal = (report) => (report.case === 'ask' ? 'invalid_request' : null);
    node.refusalMessage = 'The form is another one.';
    const source = 'format: method/2\nname: asks\nsteps:\n  - name: ok\n    ask: Sure?\n    out: { ok: boolean }\n';
    const run = node.grant({ versionId: node.publish(source) });
    await until('the run has ended', () => run.ended);
    assert.deepEqual(failure(run), ['step_failed', 'internal', 'The form is another one.']);
    const asked = node.reports.find((report) => report.case === 'ask');
    assert.ok(asked?.case === 'ask');
    const form = JSON.parse(asked.value.question?.formJson ?? '');
    assert.deepEqual(Object.keys(form.properties), ['ok']);
    assert.equal(asked.value.formSha256, canonicalDigest(form).toString('hex'));
  });

  it('end with a failure when one of them is larger than a message, and other runs continue', async () => {
    await using started = await TestWorker.start(node);
    const other = node.grant({ versionId: node.publish(requestSteps('other')) });
    const request = await started.request('other');
    const run = node.grant({ versionId: node.publish(largeQuestion) });
    for (let i = 0; i < 5; i++) (await started.request('large')).answer({ text: 'x'.repeat(1_000_000) });
    await until('the run has ended', () => run.ended);
    assert.deepEqual(kinds(run), [...Array(5).fill('stepRecord'), 'finish']);
    assert.deepEqual(failure(run).slice(0, 2), ['step_failed', 'limit']);
    request.answer({ n: 1 });
    await until('the other run has ended', () => other.ended);
    assert.equal(node.streams.length, 1);
  });

  it('remove NUL from the log, since Postgres text cannot hold it', async () => {
    await using started = await TestWorker.start(node);
    const source = `format: method/2
name: prints
steps:
  - name: prints
    node: |
      console.log('a\\u0000b')
      return {}
`;
    const run = node.grant({ versionId: node.publish(source) });
    await until('the run has ended', () => run.ended);
    const [record] = run.recorded;
    assert.equal(record?.case === 'stepRecord' && record.value.logTail, 'a\ufffdb\n');
    assert.equal(started.log.length > 0, true);
  });
});
