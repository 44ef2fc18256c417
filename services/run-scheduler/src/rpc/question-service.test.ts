import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { systemClock } from '@methods/base/clock';
import { newId, type OrgId, type QuestionId } from '@methods/base/ids';
import { OrganizationReader, readerRole } from '@methods/postgres/organization-reader';
import { AnswerChannel, Answerer } from '@methods/proto/run/v1/run_pb';
import {
  AnswerQuestionRequestSchema,
  AnswerRefusal,
  AssignQuestionRequestSchema,
  CountQuestionsRequestSchema,
  DelegateQuestionRequestSchema,
  GetQuestionRequestSchema,
  ListQuestionsRequestSchema,
  QuestionState,
} from '@methods/proto/scheduler/v1/question_service_pb';
import { runOf } from '../actor/refusals.ts';
import { TestActors } from '../actor/test-actors.fixture.ts';
import type { RunOwners } from '../bus/run-owners.ts';
import type { Party } from '../run/party.ts';
import type { AnswerPolicy } from '../run/policy.ts';
import { ask, cancel, claim, expireQuestion, key, person } from '../run/run.fixture.ts';
import type { Run, RunFacts } from '../run/run.ts';
import { QuestionFinder } from '../store/question-finder.ts';
import { QuestionLists } from '../store/question-lists.ts';
import { TestStore } from '../store/run-store.fixture.ts';
import { partyMessage } from '../wire/question-message.ts';
import { runView } from '../wire/run-message.ts';
import { AnswerRuns } from './answer-run.ts';
import { QuestionRpc } from './question-service.ts';
import { RestedTurns } from './rested-turns.ts';

const FORM = JSON.stringify({ type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] });
const NO_RULES: AnswerPolicy = {
  ...{ to: [], notStarter: false, needs: null },
  ...{ remindMs: [], escalate: null, timeoutAnswerJson: null },
};
const [ann, ben, cat] = [person('ann'), person('ben'), person('cat')];
const eve = person('eve', 'viewer');

const code = (expected: string) => ({ name: 'ServiceError', code: expected });

describe('questions', () => {
  let db: TestStore;
  let node: TestActors;
  let rpc: QuestionRpc;
  /** The organization of the present test. */
  let orgId: OrgId;
  let orgs = 0;

  before(async () => {
    db = await TestStore.open();
    node = await TestActors.on(db);
    const reader = new OrganizationReader({ sql: db.sql, role: readerRole('scheduler') });
    const owners: Pick<RunOwners, 'tell'> = {
      async tell(owner, runId, command) {
        return runView(runOf(await node.actors.tell(owner, runId, command)));
      },
    };
    const answers = new AnswerRuns({
      actors: node.actors,
      owners: owners as RunOwners,
      values: { check: () => assert.fail('no answer here is costly') },
      checks: { refusals: async () => [] },
    });
    rpc = new QuestionRpc({
      lists: new QuestionLists({ reader, deadlineMs: 60_000 }),
      finder: new QuestionFinder({ reader, deadlineMs: 60_000 }),
      turns: new RestedTurns('questions', systemClock),
      answers,
      owners,
    });
  });
  after(() => db.close());
  beforeEach(() => {
    orgId = `org_${++orgs}`;
  });

  interface Asked {
    readonly run: Run;
    readonly questionId: QuestionId;
  }

  async function asks(
    rules: Partial<AnswerPolicy> | null = null,
    facts: Partial<RunFacts> = {},
    timeoutMs: number | null = null,
  ): Promise<Asked> {
    const run = await node.running({ orgId, answerBy: 'team', ...facts });
    const questionId = newId('q');
    const question = { ...ask(run.token, 1, questionId, timeoutMs), formJson: FORM, prompt: 'Sure?' };
    const policy = rules && { policy: { ...NO_RULES, ...rules } };
    return { run: accepted(await node.tell(run, { ...question, ...policy } as typeof question)), questionId };
  }

  function accepted(outcome: Awaited<ReturnType<TestActors['tell']>>): Run {
    assert.ok(outcome.kind === 'accepted', JSON.stringify(outcome));
    return outcome.run;
  }

  const list = async (filter = {}, more = {}) =>
    rpc.handlers.listQuestions(create(ListQuestionsRequestSchema, { orgId, filter, ...more }), {} as never);
  const listed = async (filter = {}) => (await list(filter)).questions?.map(({ questionId }) => questionId);
  const count = async (filter = {}) =>
    rpc.handlers.countQuestions(create(CountQuestionsRequestSchema, { orgId, filter }), {} as never);
  const get = async (questionId: string, org = orgId, reader: Party = ann) =>
    rpc.handlers.getQuestion(
      create(GetQuestionRequestSchema, {
        ...{ orgId: org, questionId: questionId as QuestionId, reader: partyMessage(reader) },
      }),
      {} as never,
    );
  const assign = async (questionId: QuestionId, assignee: Party | null, by: Party = ann, org = orgId) =>
    rpc.handlers.assignQuestion(
      create(AssignQuestionRequestSchema, {
        ...{ orgId: org, questionId, by: partyMessage(by) },
        ...(assignee && { assignee: partyMessage(assignee) }),
      }),
      {} as never,
    );
  const delegate = async (questionId: QuestionId, to: Party, by: Party = ann, org = orgId) =>
    rpc.handlers.delegateQuestion(
      create(DelegateQuestionRequestSchema, {
        ...{ orgId: org, questionId, by: partyMessage(by), to: partyMessage(to) },
      }),
      {} as never,
    );
  const answer = async (questionId: QuestionId, value: unknown, by: Party = ann, org = orgId, comment = '') =>
    rpc.handlers.answerQuestion(
      create(AnswerQuestionRequestSchema, {
        ...{ orgId: org, questionId, answerJson: JSON.stringify(value), actor: partyMessage(by) },
        ...{ channel: AnswerChannel.INBOX, comment },
      }),
      {} as never,
    );

  test('a question is listed from the commit that asks it until the one that answers it', async () => {
    assert.deepEqual(await listed(), []);
    const first = await asks();
    const second = await asks(null, { method: 'wf_b' }, 60_000);
    assert.deepEqual(await listed(), [second.questionId, first.questionId]);
    assert.deepEqual(await listed({ method: 'wf_b' }), [second.questionId]);
    assert.deepEqual(await listed({ dueBeforeMs: Date.now() + 100_000 }), [second.questionId]);
    assert.deepEqual(await listed({ dueBeforeMs: Date.now() - 100_000 }), []);
    assert.deepEqual(await count(), { count: 2, more: false });
    const { run } = await answer(second.questionId, { ok: true });
    assert.equal(run?.runId, second.run.facts.runId);
    assert.deepEqual(await listed(), [first.questionId]);
    assert.deepEqual(await count(), { count: 1, more: false });
  });

  test('pages follow each other by their cursors, and a cursor of another list is refused', async () => {
    const ids = [];
    for (let n = 0; n < 5; n++) ids.unshift((await asks(null, {}, 60_000)).questionId);
    const first = await list({}, { limit: 3 });
    const second = await list({}, { limit: 3, cursor: first.nextCursor });
    assert.deepEqual(
      [first, second].map(({ questions }) => questions?.map((q) => q.questionId)),
      [ids.slice(0, 3), ids.slice(3)],
    );
    assert.equal(second.nextCursor, '');
    const due = await list({ dueBeforeMs: Date.now() + 100_000 }, { limit: 3 });
    assert.deepEqual(
      due.questions?.map((q) => q.questionId),
      ids.slice(2).reverse(),
    );
    for (const cursor of [due.nextCursor, `${first.nextCursor}A`, 'nonsense']) {
      await assert.rejects(list({}, { cursor }), code('invalid_request'));
    }
  });

  test("a question says how it ended, with its content and the answer's receipt", async () => {
    const open = await get((await asks()).questionId);
    assert.deepEqual([open.item?.state, open.question?.prompt, open.receipt], [QuestionState.OPEN, 'Sure?', undefined]);

    const answered = await asks(null, { starter: ben, keyId: '', metadata: { order: '7' } });
    await answer(answered.questionId, { ok: true }, cat, orgId, 'fine');
    const shown = await get(answered.questionId);
    assert.deepEqual(
      [shown.item?.state, shown.question?.formJson, shown.starter?.name, shown.metadata],
      [QuestionState.ANSWERED, FORM, 'ben', { order: '7' }],
    );
    const { receipt } = shown;
    assert.deepEqual(
      [receipt?.actor?.name, receipt?.channel, receipt?.comment, receipt?.answerJson],
      ['cat', AnswerChannel.INBOX, 'fine', '{"ok":true}'],
    );

    const cancelled = await asks();
    await node.tell(cancelled.run, cancel);
    const expired = await asks(null, {}, 1);
    await expire(expired);
    const states = [];
    for (const { questionId } of [cancelled, expired]) {
      const { item, question, receipt: none } = await get(questionId);
      states.push(item?.state);
      assert.ok((item?.closedAtMs ?? 0) > 0 && question?.prompt === 'Sure?' && none === undefined);
    }
    assert.deepEqual(states, [QuestionState.CANCELLED, QuestionState.EXPIRED]);
    assert.equal((await listed())?.length, 1);
  });

  test('an answer at the deadline closes its question with a receipt, and the next question of the run is listed', async () => {
    const asked = await asks({ timeoutAnswerJson: '{"ok":false}' }, {}, 1);
    const queued = await expire(asked);
    const { item, receipt } = await get(asked.questionId);
    assert.deepEqual(
      [item?.state, receipt?.channel, receipt?.answerJson, receipt?.actor],
      [QuestionState.ANSWERED, AnswerChannel.TIMEOUT, '{"ok":false}', undefined],
    );
    await node.tell(queued, claim('t2'));
    const next = newId('q');
    accepted(await node.tell(queued, ask('t2', 1, next, null)));
    assert.deepEqual(await listed(), [next]);
    assert.equal((await get(asked.questionId)).item?.state, QuestionState.ANSWERED);
  });

  /** Expires a question by the database's clock. */
  async function expire({ run, questionId }: Asked): Promise<Run> {
    for (;;) {
      const outcome = await node.tell(run, expireQuestion(questionId));
      if (outcome.kind === 'accepted' && outcome.run.status !== 'waiting') return outcome.run;
      node.databaseClock.observe(await db.nowMs());
    }
  }

  test('questions for applications have a list of their own, unless only people may answer them', async () => {
    const application = await asks(null, { answerBy: 'application' });
    const people = await asks({ to: ['ann@example.com'] }, { answerBy: 'application' });
    assert.deepEqual(await listed({ answerBy: Answerer.APPLICATION }), [application.questionId]);
    assert.deepEqual(await listed({ answerBy: Answerer.TEAM }), [people.questionId]);
    assert.deepEqual(await listed(), [people.questionId, application.questionId]);
  });

  test('a question is assigned, given back, and listed by its assignee', async () => {
    const { questionId } = await asks();
    const one = await asks({ to: ['ann@example.com'] });
    assert.deepEqual(await listed({ assignees: [ann.personId, ann.email] }), [one.questionId]);
    await assign(questionId, ann);
    assert.deepEqual(await listed({ assignees: [ann.personId, ann.email] }), [one.questionId, questionId]);
    await assign(questionId, ann);
    await assign(questionId, ben, cat);
    assert.equal((await get(questionId)).question?.assignee, ben.personId);
    assert.deepEqual(await listed({ unassigned: true }), []);
    await assign(questionId, null);
    assert.deepEqual(await listed({ unassigned: true }), [questionId]);
    await assert.rejects(assign(questionId, eve), code('invalid_request'));
    await assert.rejects(assign(questionId, ann, eve), code('not_an_answerer'));
    await assert.rejects(list({ assignees: ['usr_a'], unassigned: true }), code('invalid_request'));
    await assert.rejects(list({ assignees: Array(11).fill('usr_a') }), code('invalid_request'));
  });

  test('a question and its list say before the answer whether it would count', async () => {
    const { questionId } = await asks({ needs: { count: 2, on: [] }, notStarter: true }, { starter: ben });
    const refusals = async (reader: Party) => {
      const { item } = await get(questionId, orgId, reader);
      const { questions = [] } = await list({}, { reader: partyMessage(reader) });
      return [item, ...questions].map((one) => AnswerRefusal[one?.refusal ?? 0]);
    };
    assert.deepEqual(await refusals(ben), ['STARTER', 'STARTER']);
    await delegate(questionId, eve);
    assert.deepEqual(await refusals(eve), ['NONE', 'NONE']);
    assert.equal((await list()).questions?.[0]?.refusal, AnswerRefusal.UNSPECIFIED);
    await db.sql`update scheduler.questions set answerers_json = null where question_id = ${questionId}`;
    assert.deepEqual(await refusals(ben), ['STARTER', 'UNSPECIFIED'], 'an earlier node wrote the row');
    for (const person of [eve, cat]) await answer(questionId, { ok: true }, person);
    assert.deepEqual(await refusals(cat), ['CLOSED']);
  });

  test('the person who is given a question may answer it, and it does not come back', async () => {
    const { questionId } = await asks({ to: ['ann@example.com'] });
    await assert.rejects(answer(questionId, { ok: true }, eve), code('not_an_answerer'));
    await delegate(questionId, eve);
    assert.deepEqual(await listed({ assignees: [eve.personId] }), [questionId]);
    await assert.rejects(delegate(questionId, ann, eve), code('invalid_request'));
    await assert.rejects(delegate(questionId, ben, cat), code('not_an_answerer'));
    await assert.rejects(delegate(questionId, ben, key), code('not_an_answerer'));
    await answer(questionId, { ok: true }, eve);
    const { question, receipt } = await get(questionId);
    assert.deepEqual(
      [question?.delegations?.map(({ from, to }) => [from?.name, to?.name]), receipt?.actor?.name],
      [[['ann', 'eve']], 'eve'],
    );
  });

  test('votes are counted as they arrive, and the deciding one closes the question', async () => {
    const { questionId } = await asks({ needs: { count: 2, on: [] } });
    const { run } = await answer(questionId, { ok: true });
    assert.equal(run?.question?.votes?.length, 1);
    const [item] = (await list()).questions ?? [];
    assert.deepEqual([item?.votes, item?.needs], [1, 2]);
    await answer(questionId, { ok: true }, ben);
    assert.deepEqual(await listed(), []);
    assert.deepEqual(
      (await get(questionId)).receipt?.votes?.map(({ actor }) => actor?.name),
      ['ann', 'ben'],
    );
  });

  test('a question that an earlier node closed has no content, never that of the next question', async () => {
    const { run, questionId } = await asks();
    await answer(questionId, { ok: true });
    await node.tell(run, claim('t2'));
    accepted(await node.tell(run, ask('t2', 1, newId('q'), null)));
    await db.sql`update scheduler.questions set question_json = null, receipt_json = null, answer_json = null
      where question_id = ${questionId}`;
    const { item, question, receipt } = await get(questionId);
    assert.deepEqual(
      [item?.state, item?.prompt, question, receipt],
      [QuestionState.ANSWERED, 'Sure?', undefined, undefined],
    );
  });

  test('one of two simultaneous answers counts, and a closed question accepts nothing more', async () => {
    const { questionId } = await asks();
    const both = [answer(questionId, { ok: true }), answer(questionId, { ok: false }, ben)];
    const outcomes = (await Promise.allSettled(both)).map(({ status }) => status).sort();
    assert.deepEqual(outcomes, ['fulfilled', 'rejected']);
    const { receipt, item } = await get(questionId);
    assert.equal(item?.state, QuestionState.ANSWERED);
    const kept = JSON.parse(receipt?.answerJson ?? '');
    // The same answer again is a repeat.
    await answer(questionId, kept, receipt?.actor?.name === 'ann' ? ann : ben);
    await assert.rejects(answer(questionId, { ok: !kept.ok }, cat), code('run_not_waiting'));
    await assert.rejects(assign(questionId, ben), code('run_not_waiting'));
    await assert.rejects(delegate(questionId, ben), code('run_not_waiting'));
  });

  test("another organization's question is missing for every call", async () => {
    const { questionId } = await asks();
    const calls = [
      () => get(questionId, 'org_other'),
      () => assign(questionId, ann, ann, 'org_other'),
      () => delegate(questionId, ben, ann, 'org_other'),
      () => answer(questionId, { ok: true }, ann, 'org_other'),
      () => get(newId('q')),
      () => get('q_%'),
      () => answer('q_none', { ok: true }),
    ];
    for (const call of calls) await assert.rejects(call(), code('not_found'));
    assert.deepEqual((await get(questionId)).question?.assignee, '');
    orgId = 'org_other';
    assert.deepEqual(await listed(), []);
  });
});
