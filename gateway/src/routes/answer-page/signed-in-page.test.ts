// The page of a question for people who have signed in, in a whole gateway with a real registry.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { newId, newRunId, type OrgId, type UserId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { type Actor, AnswerChannel } from '@methods/proto/run/v1/run_pb';
import {
  type AnswerQuestionRequest,
  AnswerRefusal,
  type DelegateQuestionRequest,
  GetQuestionResponseSchema,
  QuestionState,
} from '@methods/proto/scheduler/v1/question_service_pb';
import { type ApiFixture, commonRegistryApi } from '../../testing/api.fixture.ts';
import { PUBLIC_URL } from '../../testing/issuer-config.fixture.ts';
import { PlayedBrowser } from '../../testing/played-browser.fixture.ts';
import { RunBook } from '../../testing/run-book.fixture.ts';
import { SchedulerPeer } from '../../testing/scheduler-peer.fixture.ts';

const node = new SchedulerPeer(new RunBook());
const questionId = newId('q');
const runId = newRunId(1);
const OWN = { origin: new URL(PUBLIC_URL).origin };
let api: ApiFixture;
let ada: Record<string, string>;
let adaId: string;
let orgId: string;
let answers: AnswerQuestionRequest[];
let delegations: DelegateQuestionRequest[];
let readers: (Actor | undefined)[];
let whole: object;

before(async () => {
  await node.start();
  api = await commonRegistryApi({ runSchedulerAddresses: [node.address] });
  const claims = { name: 'Ada', email: 'Ada@Acme.example', email_verified: true };
  const { organization, user } = (await (await api.person('viewer', 'acme', claims))('GET', '/api/whoami')).body;
  [orgId, adaId] = [organization.id, user.id];
  ada = (await api.session(orgId as OrgId, adaId as UserId)).headers;
  const bob = { sub: 'bob', name: 'Bob', email: 'bob@acme.example', email_verified: true };
  await (await api.person('member', 'acme', bob))('GET', '/api/whoami');
});
after(async () => {
  await api[Symbol.asyncDispose]();
  await node.stop();
});

beforeEach(() => {
  answers = [];
  delegations = [];
  readers = [];
  const form = { type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' } } };
  const item = {
    questionId,
    runId,
    method: `wf_${'0'.repeat(26)}`,
    step: 'approval',
    state: QuestionState.OPEN,
  } as const;
  whole = {
    item,
    question: { id: questionId, step: 'approval', prompt: 'Send it?', formJson: JSON.stringify(form) },
  };
  const run = { runId, method: `wf_${'0'.repeat(26)}` } as const;
  node.questions.answer({
    getQuestion: (request) => {
      readers.push(request.reader);
      if (request.questionId !== questionId || request.orgId !== orgId) throw new ServiceError('not_found');
      return create(GetQuestionResponseSchema, whole as MessageInitShape<typeof GetQuestionResponseSchema>);
    },
    answerQuestion: (request) => {
      answers.push(request);
      const receipt = { channel: AnswerChannel.INBOX, answerJson: request.answerJson, answeredAtMs: 5 };
      whole = { ...whole, item: { ...item, state: QuestionState.ANSWERED }, receipt };
      return { run };
    },
    delegateQuestion: (request) => {
      delegations.push(request);
      return { run };
    },
  });
});

const url = (id: string = questionId) => `http://127.0.0.1:${api.port}/questions/${id}`;
const open = (headers: Record<string, string>, id?: string) => fetch(url(id), { headers, redirect: 'manual' });

/** A browser that sends the origin of the page that posts. */
async function browsed(headers: Record<string, string>, from: Record<string, string> = OWN): Promise<PlayedBrowser> {
  return new PlayedBrowser(await (await open(headers)).text(), async (posted) => {
    const body = new URLSearchParams(posted.map(([name, text]): [string, string] => [name, text]));
    return (await fetch(url(), { method: 'POST', body, headers: { ...headers, ...from } })).text();
  });
}

test('a person who is not signed in is sent to the sign-in and comes back; a post sends nothing', async () => {
  for (const headers of [{}, { cookie: `workflow_session=${'x'.repeat(43)}` }]) {
    const reply = await open(headers);
    deepEqual([reply.status, reply.headers.get('location')], [302, `/auth/login?return_to=/questions/${questionId}`]);
    const post = await fetch(url(), { method: 'POST', body: new URLSearchParams({ do: 'send' }), headers });
    equal(post.status, 401);
    match(await post.text(), /You are not signed in any more/);
  }
});

test('a person answers in the Inbox as themselves, with a comment, after a confirmation', async () => {
  const page = await browsed(ada);
  match(page.text, /Send it\?/);
  const check = await page.choose('/ok', 'Yes').type('comment', 'As agreed.').press('Continue');
  equal(answers.length, 0);
  match((await check.press('Send answer')).text, /Sent: Yes/);
  const [given] = answers;
  deepEqual(
    [
      given?.answerJson,
      given?.comment,
      given?.channel,
      given?.actor?.personId,
      given?.actor?.email,
      given?.actor?.role,
    ],
    ['{"ok":true}', 'As agreed.', AnswerChannel.INBOX, adaId, 'ada@acme.example', 'viewer'],
  );
  match(await (await open(ada)).text(), /Answered: <bdi>Yes<\/bdi>/);
});

test('a person who may not answer sees why before any form', async () => {
  const { item } = whole as { item: object };
  whole = { ...whole, item: { ...item, refusal: AnswerRefusal.STARTER } };
  const text = await (await open(ada)).text();
  match(text, /You may not answer this question\..*excludes the person who started the run/s);
  doesNotMatch(text, /<form/);
  equal(readers.at(-1)?.personId, adaId);
});

test('a post from another site sends nothing, even with the cookie', async () => {
  for (const from of [{}, { origin: 'https://evil.example' }, { origin: 'null' }]) {
    const check = await (await browsed(ada)).choose('/ok', 'Yes').press('Continue');
    const forged = await browsed(ada, from as Record<string, string>);
    const sent = await forged.post([...check.controls, ['do', 'send']]);
    match(sent.text, /An answer has to come from a page of this server/);
  }
  deepEqual(answers, []);
});

test('the page is neither cached nor framed, and its own posts may name it', async () => {
  const { headers } = await open(ada);
  equal(headers.get('referrer-policy'), 'same-origin');
  equal(headers.get('cache-control'), 'no-store');
  match(headers.get('content-security-policy') ?? '', /form-action 'self'; base-uri 'none'; frame-ancestors 'none'/);
});

test('a question that is missing or of another organization is not found', async () => {
  for (const id of [newId('q'), 'unknown', '%2e%2e', `${questionId}x`]) equal((await open(ada, id)).status, 404, id);
  const stranger = (await (await api.person('admin', 'others'))('GET', '/api/whoami')).body;
  const { headers } = await api.session(stranger.organization.id, stranger.user.id);
  const reply = await open(headers);
  equal(reply.status, 404);
  doesNotMatch(await reply.text(), /Send it/);
});

test('what a person sees and does on the page is in the audit log', async () => {
  const check = await (await browsed(ada)).choose('/ok', 'No').press('Continue');
  await check.press('Send answer');
  const admin = await api.person('admin', 'acme');
  const { items } = (await admin('GET', '/api/audit?limit=20')).body as {
    items: { action: string; target: { id: string }; by: { id: string } }[];
  };
  const own = items.filter(({ target, by }) => target.id === runId && by.id === adaId).map(({ action }) => action);
  deepEqual([...new Set(own)].sort(), ['run.answer', 'run.read']);
});

test('a question is delegated to a member', async () => {
  const given = await (await browsed(ada)).type('to', 'BOB@acme.example').press('Hand over');
  match(given.text, /Bob may answer this question now/);
  deepEqual([delegations[0]?.by?.personId, delegations[0]?.to?.email], [adaId, 'bob@acme.example']);
  const refused = await (await browsed(ada)).type('to', 'eve@acme.example').press('Hand over');
  match(refused.text, /eve@acme\.example is not the verified address of a member/);
  equal(delegations.length, 1);
});
