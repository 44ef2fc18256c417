import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { create, fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { envelope, sealed } from '@methods/content/sealed.fixture';
import { RunEventSchema } from '@methods/proto/event/v1/event_pb';
import { RunStatus, StepStatus } from '@methods/proto/run/v1/run_pb';
import { AnswerRunSchema } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { WorkerItemSchema } from '@methods/proto/worker/v1/worker_service_pb';
import { runOf } from '../actor/refusals.ts';
import { TestActors } from '../actor/test-actors.fixture.ts';
import { runEvent } from '../bus/run-event.ts';
import type { RunOwners } from '../bus/run-owners.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import type { Run } from '../run/run.ts';
import { TestStore } from '../store/run-store.fixture.ts';
import { runView } from '../wire/run-message.ts';
import { type DeliveredGrant, GrantDesk } from '../worker-stream/grant-desk.ts';
import { quietLeases } from '../worker-stream/lease-table.fixture.ts';
import { type ReportItem, WorkerReports } from '../worker-stream/worker-reports.ts';
import { AnswerRuns } from './answer-run.ts';

const FINGERPRINT = 'aa'.repeat(16);
const text = (kind: Parameters<typeof sealed>[0]['kind'], more = {}) => JSON.stringify(sealed({ kind, ...more }));

describe('a run in device mode', () => {
  let db: TestStore;
  let node: TestActors;
  let reports: WorkerReports;
  let answers: AnswerRuns;
  let delivered: DeliveredGrant[];
  let run: Awaited<ReturnType<TestActors['running']>>;

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());

  beforeEach(async () => {
    node = await TestActors.on(db);
    const leases = quietLeases(new ManualClock());
    const judge = () => assert.fail('the service has no form of such a question');
    reports = new WorkerReports({ actors: node.actors, leases, forms: { judge } });
    const owners: Pick<RunOwners, 'tell'> = {
      tell: async (orgId, runId, command) => runView(runOf(await node.actors.tell(orgId, runId, command))),
    };
    const none = { values: { check: judge }, checks: { refusals: judge } };
    answers = new AnswerRuns({ actors: node.actors, owners: owners as RunOwners, ...none });
    delivered = [];
    const grants = new GrantDesk({
      ...{ store: node.store, leases, returnGrant: () => {}, tooLarge: () => {}, epochOf: () => 1 },
      deliver: (grant) => delivered.push(grant) > 0,
      logger: { warn: () => {} } as never,
    });
    node.actors.listen(grants);
    grants.expect('t2', { nodeId: 'here', creditId: 1 });
    run = await begun();
  });

  function begun(device = true) {
    const contentId = randomBytes(16).toString('hex');
    return node.running(device ? { contentId, sealedBy: FINGERPRINT, inputsJson: text('inputs') } : {});
  }

  type Init = Extract<NonNullable<MessageInitShape<typeof WorkerItemSchema>['item']>, { case: ReportItem['case'] }>;

  async function say(kind: ReportItem['case'], value: object, of = run): Promise<string> {
    const { runId, orgId } = of.facts;
    const item = { case: kind, value: { runId, token: of.token, seq: 1, ...value } } as Init;
    const from = { nodeId: 'there', session: 'org_a.w.2', orgId };
    const outcome = await reports.handle(from, create(WorkerItemSchema, { item }).item as ReportItem);
    if (outcome === null) return 'nothing';
    return outcome.case === 'ack' ? 'ack' : outcome.value.code;
  }

  const stored = async (of: Run = run) => (await db.load(of.facts.runId)) ?? assert.fail('no run');
  const step = (more: object = {}) => ({ path: 'first', kind: 'node', status: StepStatus.FAILED, ...more });
  const error = (more: object = {}) => ({ kind: 'http', message: '', status: 0, line: 3, ...more });
  const check = (message: string) => ({ name: 'Paid', phase: 'ensure', status: 'failed', message });

  test('takes records of its steps with sealed texts, and refuses plain ones before anything is stored', async () => {
    const plain: object[] = [
      { step: step(), outJson: '{"n":1}' },
      { step: step(), logTail: 'said' },
      { step: step({ checks: [check('12 is not 13')] }) },
      { step: step({ error: error({ message: 'no such order ord_7' }) }) },
      { step: step({ error: error({ reason: 'Not Found' }) }) },
      { step: step({ error: error({ body: 'ord_7' }) }) },
      { step: step({ error: error({ headers: { location: '/ord_7' } }) }) },
      { step: step(), outJson: '{"$sealed":"AQ"}' },
      { step: step(), outJson: text('answer') },
      { step: step(), outJson: `{"$sealed":"${sealed({ kind: 'out' }).$sealed}","n":1}` },
      { step: step(), logTail: text('out') },
    ];
    for (const record of plain)
      assert.equal(await say('stepRecord', record), 'invalid_request', JSON.stringify(record));
    assert.deepEqual((await stored()).steps, []);
    const checks = [check(''), check(text('text'))];
    const sealedStep = step({ checks, error: error({ message: text('text') }) });
    assert.equal(await say('stepRecord', { step: sealedStep, outJson: text('out'), logTail: text('log') }), 'ack');
    assert.equal((await stored()).steps.length, 1);
  });

  test('ends without a result, and with an error that its worker sealed', async () => {
    const end = { status: RunStatus.SUCCEEDED };
    assert.equal(await say('finish', { ...end, resultJson: '{"total":7}' }), 'invalid_request');
    assert.equal(await say('finish', { ...end, resultJson: text('out') }), 'invalid_request');
    assert.equal(await say('finish', end), 'ack');
    const ended = await stored();
    assert.equal(ended.status === 'succeeded' && ended.resultJson, '');

    const failing = await begun();
    const failed = { code: 'step_failed', kind: 'http', step: 'first' };
    const finish = (message: string) =>
      say('finish', { status: RunStatus.FAILED, error: { ...failed, message } }, failing);
    assert.equal(await finish('no such order'), 'invalid_request');
    assert.equal(await finish(text('text')), 'ack');
  });

  const asking = (more: object = {}, question: object = {}) => {
    const asked = { step: 'third', sealed: envelope({ kind: 'question', fingerprint: FINGERPRINT }), ...question };
    return { timeoutMs: 60_000, timeoutText: '1m', question: asked, ...more };
  };

  test('asks with an envelope only; a run of the other kind takes no envelope', async () => {
    const bad: [object, object][] = [
      [{}, { prompt: 'Pay?' }],
      [{}, { formJson: '{}' }],
      [{}, { details: 'x' }],
      [{}, { show: [{ path: 'a', valueJson: '1' }] }],
      [{ ensureScopeJson: '{"inputs":{}}' }, {}],
      [{}, { sealed: envelope({ kind: 'answer' }) }],
      [{}, { sealed: envelope({ kind: 'question' }).subarray(0, 81) }],
      [{}, { sealed: envelope({ kind: 'question', plainBytes: (1 << 20) + 1 }) }],
    ];
    for (const [more, question] of bad) {
      assert.equal(await say('ask', asking(more, question)), 'invalid_request', JSON.stringify(more));
    }
    const plainRun = await begun(false);
    assert.equal(await say('ask', asking(), plainRun), 'invalid_request');
    assert.equal(await say('ask', asking()), 'ack');
    const waiting = await stored();
    assert.ok(waiting.status === 'waiting');
    const { id, step, prompt, formJson, timeoutText } = waiting.question;
    assert.deepEqual([step, prompt, formJson, timeoutText], ['third', '', '', '1m']);
    const [row] = await db.sql`select prompt, on_device from scheduler.questions where question_id = ${id}`;
    assert.deepEqual({ ...row }, { prompt: '', on_device: true });
  });

  async function asked(more: object = {}): Promise<Run & { status: 'waiting' }> {
    assert.equal(await say('ask', asking(more)), 'ack');
    const waiting = await stored();
    return waiting.status === 'waiting' ? waiting : assert.fail(waiting.status);
  }

  async function answered(value: unknown, more: object = {}): Promise<string> {
    const { runId, orgId } = run.facts;
    const request = create(AnswerRunSchema, { runId, orgId, answerJson: JSON.stringify(value), ...more });
    return answers.answer(request).then(
      ({ status }) => RunStatus[status ?? 0] ?? '',
      ({ code, findings = [] }) => [code, ...findings.map((finding: { code: string }) => finding.code)].join(' '),
    );
  }

  test('takes an answer that its content key sealed; the same plain answer again is a repeat', async () => {
    const { question } = await asked();
    const of = (more: object = {}) => sealed({ kind: 'answer', fingerprint: FINGERPRINT, ...more });
    assert.equal(await answered({ ok: true }), 'device_mode_required');
    assert.equal(await answered({ $sealed: 'AQ' }), 'invalid_answer sealed_value_damaged');
    assert.equal(
      await answered(sealed({ kind: 'inputs', fingerprint: FINGERPRINT })),
      'invalid_answer sealed_value_damaged',
    );
    assert.equal(await answered(of({ plainBytes: 64 * 1024 + 1 })), 'invalid_answer sealed_value_damaged');
    assert.equal(await answered(of({ fingerprint: 'bb'.repeat(16) })), 'invalid_answer content_key_missing');
    assert.equal(await answered(of(), { comment: 'as agreed' }), 'device_mode_required comment');
    assert.equal((await stored()).status, 'waiting');

    const digest = 'cd'.repeat(32);
    const named = { questionId: question.id };
    const first = of({ digest });
    assert.equal(await answered(first, named), 'QUEUED');
    assert.equal(await answered(of({ digest }), named), 'QUEUED', 'another envelope of the same answer');
    assert.equal(await answered(of({ digest })), 'QUEUED');
    assert.equal(await answered(of(), named), 'run_not_waiting');
    const { answer, answers: receipts } = await stored();
    assert.deepEqual([answer?.answerJson, answer?.digest], [JSON.stringify(first), digest]);
    assert.deepEqual([receipts[0]?.prompt, receipts[0]?.comment], ['', '']);
  });

  async function claimed() {
    const claim = { type: 'claim', token: 't2', workerSession: 'worker.2', cleansUp: true } as const;
    assert.equal((await node.tell(run, claim)).kind, 'accepted');
    return delivered.at(-1)?.grant ?? assert.fail('no grant');
  }

  test('its worker gets the content id and the answer with the deadline, and keeps that when it asks again', async () => {
    const { question } = await asked();
    await answered(sealed({ kind: 'answer', fingerprint: FINGERPRINT }));
    const { contentId, deviceKeyId, answer } = await claimed();
    assert.deepEqual([contentId, deviceKeyId], [run.facts.contentId, run.facts.keyId]);
    assert.deepEqual([answer?.timedOut, answer?.deadlineAtMs], [false, question.deadlineAtMs]);
    run = { ...run, token: 't2' };
    const again = await asked({ seq: 1, deadlineAtMs: answer?.deadlineAtMs });
    assert.notEqual(again.question.id, question.id);
    assert.equal(again.question.deadlineAtMs, question.deadlineAtMs);
  });

  test('the worker gives the times of its reminders, and says that the source answers at the deadline', async () => {
    const { question } = await asked({ hasTimeoutAnswer: true, remindMs: [20_000, 10_000, -1] });
    assert.deepEqual([question.policy?.remindMs, question.hasTimeoutAnswer], [[10_000, 20_000], true]);
  });

  test('its event has the envelope and no text; one too large for a message has neither', async () => {
    const waiting = await asked();
    const event = (body: Uint8Array) => fromBinary(RunEventSchema, body);
    const small = event(runEvent(waiting, { event: 'needs_input', follows: null }).body);
    assert.deepEqual([small.contentId, small.question?.prompt], [run.facts.contentId, '']);
    assert.equal(Buffer.from(small.question?.sealed ?? []).toString('base64'), waiting.question.sealed);
    const large = { ...waiting.question, sealed: Buffer.alloc(1_200_000).toString('base64') };
    const cut = event(runEvent({ ...waiting, question: large }, { event: 'needs_input', follows: null }).body);
    assert.deepEqual([cut.contentLeftOut, cut.question?.sealed.length], [true, 0]);
  });
});
