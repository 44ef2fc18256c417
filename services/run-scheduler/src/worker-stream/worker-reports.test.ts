import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { OrgId } from '@methods/base/ids';
import { RunStatus, StepStatus } from '@methods/proto/run/v1/run_pb';
import { WorkerItemSchema } from '@methods/proto/worker/v1/worker_service_pb';
import { TestActors } from '../actor/test-actors.fixture.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { TestStore } from '../store/run-store.fixture.ts';
import { quietLeases } from './lease-table.fixture.ts';
import type { LeaseTable } from './lease-table.ts';
import type { FormVerdict } from './question-forms.ts';
import { type ReportItem, WorkerReports } from './worker-reports.ts';

type Init = Extract<NonNullable<MessageInitShape<typeof WorkerItemSchema>['item']>, { case: ReportItem['case'] }>;

const HASHES = { formSha256: 'f0', versionSha256: 'e0' };

describe('what a worker reports', () => {
  let db: TestStore;
  let node: TestActors;
  let clock: ManualClock;
  let leases: LeaseTable;
  let reports: WorkerReports;
  let verdict: FormVerdict;
  let run: Awaited<ReturnType<TestActors['running']>>;

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());

  beforeEach(async () => {
    node = await TestActors.on(db);
    clock = new ManualClock();
    leases = quietLeases(clock);
    verdict = { kind: 'form', formJson: '{"type":"object"}', checks: null, policy: null, ...HASHES };
    reports = new WorkerReports({ actors: node.actors, leases, forms: { judge: async () => verdict } });
    run = await node.running();
    const { runId, shard } = run.facts;
    const lease = { runId, shard, token: run.token, session: 'org_a.w.1', nodeId: 'here', accepted: false };
    leases.add({ ...lease, cancelAskedAtMs: null });
  });

  async function say(item: Init, orgId: OrgId = 'org_a'): Promise<string> {
    const from = { nodeId: 'there', session: 'org_a.w.2', orgId };
    const outcome = await reports.handle(from, create(WorkerItemSchema, { item }).item as ReportItem);
    if (outcome === null) return 'nothing';
    const { runId, token, seq } = outcome.value;
    assert.deepEqual([runId, token], [item.value?.runId, item.value?.token]);
    return outcome.case === 'ack' ? `ack ${seq}` : `${outcome.value.code} ${seq}`;
  }

  const of = (seq: number) => ({ runId: run.facts.runId, token: run.token, seq });

  function stepRecord(seq: number, path = 'first', more: object = {}): Init {
    const step = { path, kind: 'node', status: StepStatus.SUCCEEDED };
    return { case: 'stepRecord', value: { ...of(seq), step, outJson: '{"n":1}', logTail: 'said', ...more } };
  }

  test('refuses records beyond their bound, and the run can still end', async () => {
    const checks = Array.from({ length: 30_000 }, () => ({ name: 'a', phase: 'code', status: 'passed' }));
    const large = (seq: number) =>
      stepRecord(seq, `step_${seq}`, {
        step: { path: `step_${seq}`, kind: 'node', status: StepStatus.SUCCEEDED, checks },
      });
    assert.deepEqual([await say(large(1)), await say(large(2))], ['ack 1', 'ack 2']);
    assert.equal(await say(large(3)), 'invalid_request 3');
    assert.equal(await say(stepRecord(3, 'small')), 'ack 3');
    assert.equal(await say(finish(4)), 'ack 4');
    assert.equal((await stored())?.steps.length, 3);
  });

  function finish(seq: number, resultJson = '{}'): Init {
    return { case: 'finish', value: { ...of(seq), status: RunStatus.SUCCEEDED, resultJson } };
  }

  function stored() {
    return db.load(run.facts.runId);
  }

  test('records each report before it is acknowledged', async () => {
    assert.equal(await say(stepRecord(1)), 'ack 1');
    assert.deepEqual(
      (await stored())?.steps.map((step) => step.path),
      ['first'],
    );
    assert.equal(await say(finish(2, '{"ok":true}')), 'ack 2');
    const finished = await stored();
    assert.equal(finished?.status === 'succeeded' && finished.resultJson, '{"ok":true}');
  });

  test('times of a step that have no date are unknown', async () => {
    const step = { path: 'first', kind: 'node', status: StepStatus.SUCCEEDED };
    const times = { startedAtMs: 1e16, finishedAtMs: Number.NaN, runningMs: Number.POSITIVE_INFINITY, waitingMs: -1 };
    assert.equal(await say(stepRecord(1, 'first', { step: { ...step, ...times } })), 'ack 1');
    const [{ startedAtMs, finishedAtMs, runningMs, waitingMs } = times] = (await stored())?.steps ?? [];
    assert.deepEqual([startedAtMs, finishedAtMs, runningMs, waitingMs], [0, 0, 0, 0]);
  });

  test('a result of more than 1 MiB that a message still carries ends its run as failed', async () => {
    assert.equal(await say(finish(1, `"${'x'.repeat((4 << 20) - (64 << 10))}"`)), 'ack 1');
    const finished = await stored();
    assert.deepEqual(finished?.status === 'failed' && finished.error, {
      code: 'result_invalid',
      kind: 'limit',
      message: 'The result is larger than 1 MiB; use a file',
      step: '',
    });
  });

  test('a repeated report is acknowledged again and changes nothing', async () => {
    await say(stepRecord(1));
    await say(finish(2));
    const before = await stored();
    assert.deepEqual([await say(stepRecord(1)), await say(finish(2))], ['ack 1', 'ack 2']);
    assert.deepEqual(await stored(), before);
  });

  test('a report that arrives before an earlier one gets no reply, so that the worker repeats both', async () => {
    assert.equal(await say(stepRecord(2)), 'nothing');
    assert.equal(await say(stepRecord(1)), 'ack 1');
    assert.equal(await say(stepRecord(2, 'second')), 'ack 2');
  });

  test('a report under another token, or of another organization, is stale or missing and changes nothing', async () => {
    const stale = { ...of(1), token: 'other' };
    assert.equal(await say({ case: 'giveBack', value: stale }), 'stale_attempt 1');
    assert.equal(await say(finish(1), 'org_b'), 'stale_attempt 1');
    assert.equal((await stored())?.revision, run.revision);
  });

  test('a report on a shard of another node gets no reply: the sender looks for the owner', async () => {
    node.lose([run.facts.shard]);
    assert.equal(await say(finish(1)), 'nothing');
  });

  test('every kind, including an acceptance, renews the lease and updates where the worker is', async () => {
    clock.forward(50_000);
    assert.equal(await say({ case: 'accepted', value: { runId: run.facts.runId, token: run.token } }), 'nothing');
    const lease = leases.get(run.facts.runId, run.token);
    assert.deepEqual([lease?.accepted, lease?.nodeId, lease?.session], [true, 'there', 'org_a.w.2']);
    assert.equal(lease?.renewedAtMs, clock.monotonicMs());
    assert.equal((await stored())?.revision, run.revision);
  });

  test('a withheld out is not kept, even if a value is sent with it', async () => {
    await say(stepRecord(1, 'first', { outWithheld: true }));
    const { orgId, runId } = run.facts;
    assert.deepEqual(
      (await db.store.keptSteps(orgId, runId)).map((step) => [step.outJson, step.outWithheld]),
      [[null, true]],
    );
  });

  test('a question waits with the form of its source, regardless of what the worker sent', async () => {
    const question = { step: 'approval', prompt: 'Sure?', formJson: '{"$ref":"#"}' };
    verdict = { kind: 'form', formJson: '{"title":"derived"}', checks: null, policy: null, ...HASHES };
    assert.equal(await say({ case: 'ask', value: { ...of(1), question } }), 'ack 1');
    const waiting = await stored();
    assert.equal(waiting?.status === 'waiting' && waiting.question.formJson, '{"title":"derived"}');
    assert.equal(await say({ case: 'ask', value: { ...of(1), question } }), 'ack 1');
  });

  test('a question with another form is refused with the reason, and its run can end', async () => {
    const question = { step: 'approval', prompt: 'Sure?', formJson: '{}' };
    verdict = { kind: 'refused', message: 'another form' };
    assert.equal(await say({ case: 'ask', value: { ...of(1), question } }), 'invalid_request 1');
    assert.equal((await stored())?.status, 'running');
    assert.equal(await say(finish(1)), 'ack 1');
  });

  test('a question has the policy of the source and the hashes of what was asked, and none that the worker sends', async () => {
    const question = { step: 'approval', prompt: 'Sure?', formJson: '{}', policy: { needs: 1 } };
    const source = { to: ['admin'], notStarter: true, needs: null, remindMs: [1], escalate: null };
    verdict = {
      kind: 'form',
      formJson: '{}',
      checks: null,
      policy: { ...source, timeoutAnswer: { ok: false } },
      ...HASHES,
    };
    assert.equal(await say({ case: 'ask', value: { ...of(1), question } }), 'ack 1');
    const run = await stored();
    assert.ok(run?.status === 'waiting');
    assert.deepEqual(run.question.policy, { ...source, timeoutAnswerJson: '{"ok":false}' });
    assert.deepEqual([run.question.formSha256, run.question.versionSha256], ['f0', 'e0']);
  });

  test('a question whose form is unavailable now gets no reply, so that the worker repeats it', async () => {
    const question = { step: 'approval', prompt: 'Sure?', formJson: '{}' };
    verdict = { kind: 'later' };
    assert.equal(await say({ case: 'ask', value: { ...of(1), question } }), 'nothing');
    verdict = { kind: 'form', formJson: '{}', checks: null, policy: null, ...HASHES };
    assert.equal(await say({ case: 'ask', value: { ...of(1), question } }), 'ack 1');
  });

  test('a question under another token, or of another organization, is judged by the rules of the run, without a look-up of its form', async () => {
    const question = { step: 'approval', prompt: 'Sure?', formJson: '{}' };
    assert.equal(await say({ case: 'ask', value: { ...of(1), token: 'other', question } }), 'stale_attempt 1');
    assert.equal(await say({ case: 'ask', value: { ...of(1), question } }, 'org_b'), 'stale_attempt 1');
    assert.equal((await stored())?.status, 'running');
  });

  test('a question waits with its form and deadline', async () => {
    const question = { step: 'approval', prompt: 'Sure?', formJson: '{"type":"object"}' };
    const value = { ...of(1), question, timeoutMs: 60_000, timeoutText: '1m' };
    assert.equal(await say({ case: 'ask', value }), 'ack 1');
    const waiting = await stored();
    assert.ok(waiting?.status === 'waiting');
    assert.match(waiting.question.id, /^q_/);
    assert.equal((waiting.question.deadlineAtMs ?? 0) - waiting.question.askedAtMs, 60_000);
  });

  test('a deadline that an older worker sends in milliseconds is stored as a person writes it', async () => {
    const question = { step: 'approval', prompt: 'Sure?', formJson: '{"type":"object"}' };
    await say({ case: 'ask', value: { ...of(1), question, timeoutMs: 259_200_000, timeoutText: '259200000ms' } });
    const waiting = await stored();
    assert.ok(waiting?.status === 'waiting');
    assert.equal(waiting.question.timeoutText, '3d');
  });

  test('a time with a fraction of a millisecond is rounded, since the row of its deadline stores none', async () => {
    const question = { step: 'approval', prompt: 'Sure?', formJson: '{"type":"object"}' };
    await say({ case: 'ask', value: { ...of(1), question, timeoutMs: 60_000.2 } });
    const waiting = await stored();
    assert.ok(waiting?.status === 'waiting');
    assert.equal((waiting.question.deadlineAtMs ?? 0) - waiting.question.askedAtMs, 60_001);
    run = await node.running();
    await say({ case: 'sleep', value: { ...of(1), waitMs: 60_000.2 } });
    const sleeping = node.actors.resident(run.facts);
    assert.ok(sleeping?.status === 'sleeping');
    assert.equal(sleeping.wakeAtMs - sleeping.stateSinceMs, 60_001);
  });

  for (const [what, item] of [
    ['a step without a name', () => stepRecord(1, '')],
    ['a step of no known status', () => stepRecord(1, 'first', { step: { path: 'first' } })],
    ['a report beyond thirty thousand', () => stepRecord(30_001)],
    ['a question of no step', () => ({ case: 'ask', value: of(1) }) as Init],
    [
      'a question with a deadline that has no date',
      () => {
        const question = { step: 'approval', prompt: 'Sure?', formJson: '{"type":"object"}' };
        return { case: 'ask', value: { ...of(1), question, timeoutMs: 1e16, timeoutText: '1d' } } as Init;
      },
    ],
    ['an end that is none', () => ({ case: 'finish', value: { ...of(1), status: RunStatus.QUEUED } }) as Init],
    ['a failure without an error', () => ({ case: 'finish', value: { ...of(1), status: RunStatus.FAILED } }) as Init],
    ['a value that cannot be stored', () => finish(1, '"\0"')],
  ] as const) {
    test(`${what} is refused, and the run continues`, async () => {
      assert.match(await say(item()), /^invalid_request/);
      assert.equal((await stored())?.status, 'running');
      assert.equal(await say(finish(1)), 'ack 1');
    });
  }
});
