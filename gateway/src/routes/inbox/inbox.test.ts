import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { newId, newRunId, type QuestionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import {
  type Actor,
  AnswerChannel,
  Answerer,
  AnswerPolicySchema,
  type Question,
  ReceiptSchema,
  RunStatus,
  type RunView,
  VoteSchema,
} from '@methods/proto/run/v1/run_pb';
import {
  type AnswerQuestionRequest,
  AnswerRefusal,
  type AssignQuestionRequest,
  type DelegateQuestionRequest,
  type GetQuestionResponse,
  GetQuestionResponseSchema,
  type ListQuestionsRequest,
  type QuestionItem,
  QuestionItemSchema,
  QuestionState,
} from '@methods/proto/scheduler/v1/question_service_pb';
import { type ApiFixture, type Asking, assertRefused, commonRegistryApi } from '../../testing/api.fixture.ts';
import { queuedRun } from '../../testing/queued-run.fixture.ts';
import { RunBook } from '../../testing/run-book.fixture.ts';
import { SchedulerPeer } from '../../testing/scheduler-peer.fixture.ts';

const ASKED_MS = Date.parse('2026-01-31T12:00:00.000Z');
const METHOD = `wf_${'0'.repeat(26)}` as const;

const node = new SchedulerPeer(new RunBook());
const questionId = newId('q');
const runId = newRunId(1);
const RUN = { runId, method: METHOD, versionId: 'ver_1', createdAtMs: ASKED_MS } as const;
let api: ApiFixture;
let ada: Asking;
let ben: Asking;
let viewer: Asking;
let stranger: Asking;
let adaId: string;
let benId: string;
let strangerId: string;
let items: QuestionItem[];
let lists: ListQuestionsRequest[];
let whole: GetQuestionResponse;

before(async () => {
  await node.start();
  // The first of these nodes does not answer.
  api = await commonRegistryApi({ runSchedulerAddresses: ['127.0.0.1:1', node.address] });
  const verified = (name: string) => ({ sub: name, name, email: `${name}@Acme.example`, email_verified: true });
  [ada, ben, viewer, stranger] = await Promise.all([
    api.person('member', 'acme', verified('Ada')),
    api.person('member', 'acme', { ...verified('Ben'), email_verified: false }),
    api.person('viewer', 'acme', verified('Eve')),
    api.person('admin', 'others', verified('Sam')),
  ]);
  const ids = [];
  for (const person of [ada, ben, viewer, stranger]) ids.push((await person('GET', '/api/whoami')).body.user.id);
  [adaId, benId, , strangerId] = ids as [string, string, string, string];
});
after(async () => {
  await api[Symbol.asyncDispose]();
  await node.stop();
});

beforeEach(() => {
  items = [item()];
  lists = [];
  whole = create(GetQuestionResponseSchema, {
    item: item(),
    question: {
      ...{ id: questionId, step: 'approve', prompt: 'Send it?', formJson: '{"type":"object","maximum":1e400}' },
      ...{ show: [{ path: 'inputs.total', valueJson: '12345678901234567890' }], askedAtMs: ASKED_MS },
    },
    metadata: { order: '7' },
    starter: { personId: adaId, name: 'Ada' },
  });
  node.questions.answer({
    listQuestions: (request) => {
      lists.push(request);
      return { questions: items, nextCursor: 'more' };
    },
    getQuestion: (request) => {
      if (request.questionId !== questionId) throw new ServiceError('not_found');
      return whole;
    },
  });
});

function item(more: object = {}): QuestionItem {
  const fields = {
    ...{ questionId, runId, method: METHOD, versionId: 'ver_1', step: 'approve', prompt: 'Send it?' },
    ...{ askedAtMs: ASKED_MS, dueAtMs: ASKED_MS + 60_000, state: QuestionState.OPEN, answerBy: Answerer.TEAM },
    ...more,
  };
  return create(QuestionItemSchema, fields as MessageInitShape<typeof QuestionItemSchema>);
}

const at = (action: string, id: string = questionId) => `/api/questions/${id}${action}`;

test('an open question is listed with its deadline, its assignee and where it is asked', async () => {
  items = [item(), item({ assignee: 'usr_1', to: ['ann@example.com', 'admin'], notStarter: true })];
  const { status, body } = await viewer('GET', '/api/inbox?limit=2&cursor=abc');
  assert.equal(status, 200);
  assert.equal(body.next_cursor, 'more');
  assert.deepEqual(body.items[0], {
    ...{ id: questionId, run_id: runId, method: METHOD, version_id: 'ver_1', step: 'approve', prompt: 'Send it?' },
    ...{ state: 'open', answer_by: 'team', assignee: null },
    ...{ asked_at: '2026-01-31T12:00:00.000Z', deadline_at: '2026-01-31T12:01:00.000Z' },
  });
  const { assignee, to, not_starter: notStarter } = body.items[1];
  assert.deepEqual([assignee, to, notStarter], ['usr_1', ['ann@example.com', 'admin'], true]);
  assert.deepEqual([lists[0]?.limit, lists[0]?.cursor], [2, 'abc']);
});

test('each question says whether its reader may answer it, and why not', async () => {
  const said = async (refusal: AnswerRefusal) => {
    items = [item({ refusal })];
    whole = { ...whole, item: item({ refusal }) };
    const [listed] = (await ada('GET', '/api/inbox')).body.items;
    const { may_answer: mayAnswer, refusal: why } = (await ada('GET', at(''))).body;
    assert.deepEqual([listed.may_answer, listed.refusal], [mayAnswer, why]);
    return [mayAnswer, why];
  };
  assert.deepEqual(await said(AnswerRefusal.NONE), [true, undefined]);
  assert.deepEqual(await said(AnswerRefusal.STARTER), [false, 'starter']);
  assert.deepEqual(await said(AnswerRefusal.NOT_NAMED), [false, 'not_named']);
  // A node of the release before.
  assert.deepEqual(await said(AnswerRefusal.UNSPECIFIED), [undefined, undefined]);
  assert.deepEqual([lists[0]?.reader?.personId, lists[0]?.reader?.email], [adaId, 'ada@acme.example']);
});

test('a list is filtered by the caller, an assignee, a method, a time and an answerer', async () => {
  const selected = async (as: Asking, query: string) => {
    assert.equal((await as('GET', `/api/inbox?${query}`)).status, 200, query);
    const { assignees, unassigned, method, dueBeforeMs, answerBy } = lists.at(-1)?.filter ?? {};
    return [assignees, unassigned, method, dueBeforeMs, answerBy];
  };
  assert.deepEqual(await selected(ada, ''), [[], false, '', 0, Answerer.TEAM]);
  assert.deepEqual(await selected(ada, 'mine=true'), [[adaId, 'ada@acme.example'], false, '', 0, Answerer.TEAM]);
  // An address that the issuer has not verified belongs to no one.
  assert.deepEqual(await selected(ben, 'mine=true'), [[benId], false, '', 0, Answerer.TEAM]);
  assert.deepEqual(await selected(ada, 'unassigned=true&answer_by=all'), [[], true, '', 0, Answerer.UNSPECIFIED]);
  assert.deepEqual(await selected(ada, `method=${METHOD.slice(3)}&assignee=Ben@acme.example&answer_by=application`), [
    ...[['ben@acme.example'], false, METHOD],
    ...[0, Answerer.APPLICATION],
  ]);
  const due = 'due_before=2026-01-31T12:00:00Z';
  assert.deepEqual(await selected(ada, due), [[], false, '', ASKED_MS, Answerer.TEAM]);
  const asked = lists.length;
  assert.deepEqual((await ada('GET', '/api/inbox?method=unknown')).body, { items: [], next_cursor: null });
  const refused = ['mine=yes', 'mine=true&unassigned=true', 'due_before=soon', 'answer_by=me', 'limit=0', 'x=1'];
  for (const query of refused) assertRefused(await ada('GET', `/api/inbox?${query}`), 400, 'invalid_request');
  assert.equal(lists.length, asked);
});

test('a question that needs more people than there are has a warning, in the list and by itself', async () => {
  const needed = (needs: number, more = {}) => item({ needs, votes: 1, ...more });
  items = [
    needed(2),
    needed(3),
    needed(3, { to: ['viewer'] }),
    needed(2, { to: ['ada@acme.example', 'ben@acme.example'] }),
    needed(2, { to: ['ada@acme.example'], escalateTo: ['eve@acme.example'] }),
  ];
  const { body } = await ada('GET', '/api/inbox');
  const warned = body.items.map(({ warnings = [] }: { warnings?: { code: string }[] }) => warnings.length);
  // Ben's address is not verified.
  assert.deepEqual(warned, [0, 1, 0, 1, 0]);
  assert.deepEqual([body.items[1].needs, body.items[1].votes_given], [3, 1]);
  assert.deepEqual(body.items[1].warnings, [
    {
      ...{ path: '/needs', code: 'too_few_people' },
      message: 'The question needs the same answer of 3 people, and 2 members may answer it.',
    },
  ]);
  whole = { ...whole, item: needed(3) };
  assert.equal((await ada('GET', at(''))).body.warnings.length, 1);
});

test('counts are given for the team, the caller, no assignee, what is due within a day, and the applications', async () => {
  node.questions.answer({
    countQuestions: ({ filter }) => {
      if (filter?.answerBy === Answerer.APPLICATION) return { count: 10_000, more: true };
      if (filter?.unassigned) return { count: 3 };
      if (filter?.dueBeforeMs) return { count: 4 };
      return { count: filter?.assignees.includes(adaId) ? 2 : 9 };
    },
  });
  const { body } = await ada('GET', '/api/inbox/counts');
  const few = (count: number) => ({ count, more: false });
  assert.deepEqual(body, {
    ...{ team: few(9), mine: few(2), unassigned: few(3), due_soon: few(4) },
    application: { count: 10_000, more: true },
  });
});

test('a whole question has its form and values as they were written, and its receipt once it is answered', async () => {
  const response = await fetch(`http://127.0.0.1:${api.port}${at('')}`, { headers: await bearer() });
  const text = await response.text();
  assert.ok(text.includes('"value":12345678901234567890') && text.includes('"maximum":1e400'), text);
  const open = JSON.parse(text);
  assert.deepEqual([open.metadata, open.starter.name, open.question.id], [{ order: '7' }, 'Ada', questionId]);
  assert.equal(open.receipt, undefined);

  const closedAtMs = ASKED_MS + 9_000;
  const by = { personId: benId, name: 'Ben' };
  const given = {
    questionId,
    actor: by,
    channel: AnswerChannel.LINK,
    answeredAtMs: closedAtMs,
    answerJson: '{"ok":true}',
  };
  const receipt = create(ReceiptSchema, given as MessageInitShape<typeof ReceiptSchema>);
  whole = { ...whole, item: item({ state: QuestionState.ANSWERED, closedAtMs }), receipt };
  const { body } = await viewer('GET', at(''));
  assert.deepEqual(
    [body.state, body.closed_at, body.receipt.by.name, body.receipt.channel, body.receipt.answer],
    ['answered', '2026-01-31T12:00:09.000Z', 'Ben', 'link', { ok: true }],
  );
  for (const id of [newId('q'), 'q_1', runId]) assertRefused(await ada('GET', at('', id)), 404, 'not_found');
});

async function bearer() {
  const { MACHINE } = await import('../../testing/issuer-config.fixture.ts');
  return { authorization: `Bearer ${await api.issuer.token({ aud: MACHINE, org_id: 'acme', sub: 'Ada' })}` };
}

test('a question is assigned to oneself, to a member by id or verified address, and to no one', async () => {
  const asked: AssignQuestionRequest[] = [];
  node.questions.answer({
    assignQuestion: (request) => {
      asked.push(request);
      return { run: queuedRun(RUN) };
    },
  });
  for (const assignee of ['me', benId, 'eve@ACME.example', null]) {
    const { status, body } = await ada('POST', at('/assign'), { assignee });
    assert.deepEqual([status, body.id], [200, questionId], JSON.stringify(body));
  }
  assert.deepEqual(
    asked.map(({ assignee }) => assignee && [assignee.name, assignee.role, assignee.email]),
    [['Ada', 'member', 'ada@acme.example'], ['Ben', 'member', ''], ['Eve', 'viewer', 'eve@acme.example'], undefined],
  );
  assert.deepEqual([...new Set(asked.map(({ by }) => by?.personId))], [adaId]);
  // Of another organization, unverified, unknown.
  for (const assignee of [
    strangerId,
    'sam@acme.example',
    'ben@acme.example',
    newId('usr'),
    'everyone',
    `${'x'.repeat(310)}@b.example`,
  ]) {
    assertRefused(await ada('POST', at('/assign'), { assignee }), 400, 'invalid_request', 'no_member');
  }
  for (const body of [
    {},
    { assignee: '' },
    { assignee: 7 },
    { assignee: 'x'.repeat(321) },
    { assignee: 'me', to: 'me' },
  ]) {
    assertRefused(await ada('POST', at('/assign'), body), 400, 'invalid_request');
  }
  assertRefused(await ada('POST', at('/assign', 'q_1'), { assignee: 'me' }), 404, 'not_found');
  assert.equal(asked.length, 4);
});

test('a question is not assigned to a member whose access has ended', async () => {
  const asked: DelegateQuestionRequest[] = [];
  node.questions.answer({
    delegateQuestion: (request) => {
      asked.push(request);
      return { run: queuedRun(RUN) };
    },
  });
  const admin = await api.person('admin', 'acme', { sub: 'root' });
  const gone = await api.person('member', 'acme', {
    ...{ sub: 'Gus', name: 'Gus', email: 'gus@acme.example', email_verified: true },
  });
  const { id } = (await gone('GET', '/api/whoami')).body.user;
  assert.equal((await ada('POST', at('/delegate'), { to: 'gus@acme.example' })).status, 200);
  assert.equal((await admin('DELETE', `/api/members/${id}`)).status, 200);
  for (const to of [id, 'gus@acme.example']) {
    assertRefused(await ada('POST', at('/delegate'), { to }), 400, 'invalid_request', 'no_member');
  }
  assert.deepEqual(
    asked.map(({ by, to }) => [by?.name, to?.name]),
    [['Ada', 'Gus']],
  );
  const { body } = await admin('GET', `/api/audit?target=${runId}&action=run.delegate`);
  assert.deepEqual(
    body.items.map(({ by }: { by: { id: string } }) => by.id),
    [adaId],
  );
});

test('an answer counts with its comment, or shows the votes so far', async () => {
  const asked: AnswerQuestionRequest[] = [];
  let run: RunView = queuedRun(RUN);
  node.questions.answer({
    answerQuestion: (request) => {
      asked.push(request);
      if (request.answerJson === '{"ok":false}') throw new ServiceError('not_an_answerer');
      return { run };
    },
  });
  const answer = (body: object, as = ada) => as('POST', at('/answer'), body);
  const done = await answer({ answer: { ok: true }, comment: 'fine' });
  assert.deepEqual([done.status, done.body.run_id, done.body.status], [200, runId, 'queued']);
  const [{ actor, channel, comment, answerJson }] = asked as [AnswerQuestionRequest];
  assert.deepEqual([actor?.personId, channel, comment, answerJson], [adaId, AnswerChannel.CLI, 'fine', '{"ok":true}']);
  assert.equal(actor?.email, 'ada@acme.example');

  const vote = create(VoteSchema, { actor: actor as Actor, answerJson, atMs: ASKED_MS, channel });
  const policy = create(AnswerPolicySchema, { needs: 2 });
  const question = { ...(whole.question as Question), policy, votes: [vote] };
  run = { ...run, status: RunStatus.WAITING, question };
  const voted = await answer({ answer: { ok: true } });
  assert.deepEqual([voted.status, voted.body.status, voted.body.question.votes.length], [200, 'waiting', 1]);

  // A person whom the question names may be a viewer: the run decides.
  assertRefused(await answer({ answer: { ok: false } }, viewer), 403, 'not_an_answerer');
  const count = asked.length;
  assertRefused(await answer({ answer: { text: 'x'.repeat(70_000) } }), 413, 'too_large', 'answer_bytes');
  for (const body of [
    { answer: [] },
    {},
    { answer: {}, comment: 'x'.repeat(2_001) },
    { answer: {}, question_id: questionId as QuestionId },
  ]) {
    assertRefused(await answer(body), 400, 'invalid_request');
  }
  assert.equal(asked.length, count);
  assert.equal((await answer({ answer: {}, comment: '\u{1F600}'.repeat(2_000) })).status, 200);
});
