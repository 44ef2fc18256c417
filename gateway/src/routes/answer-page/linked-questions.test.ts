import { deepEqual, equal, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import type { OrgId, QuestionId, RunId, UserId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { type AnswerLink, LinkState } from '@methods/proto/notifier/v1/link_service_pb';
import { type Actor, AnswerChannel } from '@methods/proto/run/v1/run_pb';
import { QuestionState } from '@methods/proto/scheduler/v1/question_service_pb';
import { NO_ONE } from '../../plugins/request-actor.ts';
import { LinkedQuestions } from './linked-questions.ts';

const ADA = 'ada@acme.example';
const ADA_ID = 'usr_0123456789abcdefghjkmnpqrs' as UserId;
const QUESTION_ID = 'q_0123456789abcdefghjkmnpqrs' as QuestionId;
const FROM = { ip: '', requestId: 'req' };
const member: Actor = { ...NO_ONE, personId: ADA_ID, email: ADA, name: 'Ada', role: 'member' };

/** A link to a question, in an organization with these members. */
class World {
  readonly answers: { actor: Actor; channel: AnswerChannel; comment: string }[] = [];
  readonly delegations: { by: Actor; to: Actor }[] = [];
  readonly audit: { action: string; doer: { kind: string; id: string }; facts?: object }[] = [];
  used = 0;
  gone = false;
  away = false;
  /** The reply to an answer. */
  run: object = { answers: [{ questionId: QUESTION_ID }] };
  item: object = { method: 'wf_1', step: 'approval', prompt: 'Pay?', state: QuestionState.OPEN, closedAtMs: 0 };
  question: object = { prompt: 'Pay?', show: [], formJson: '{}', deadlineAtMs: 0, votes: [] };
  receipt: object | undefined;

  constructor(
    private readonly link: Partial<AnswerLink> = {},
    private readonly members: readonly Actor[] = [],
  ) {}

  async open() {
    const link = {
      orgId: 'org_0123456789abcdefghjkmnpqrs' as OrgId,
      runId: 'run_0123456789abcdefghjkmnpqrs' as RunId,
      questionId: QUESTION_ID,
      recipient: ADA,
      state: LinkState.OPEN,
      userId: '',
      ...this.link,
    };
    const names = { orgName: 'Acme', methodName: 'pay', timeZone: 'UTC', contentOnDevices: false };
    const parts = {
      links: { open: async () => link, use: async () => void this.used++ },
      questions: {
        get: async () => {
          if (this.away) throw new ServiceError('unavailable');
          if (this.gone) throw new ServiceError('not_found');
          return { item: this.item, question: this.question, receipt: this.receipt };
        },
        answer: async (given: (typeof this.answers)[0]) => {
          this.answers.push(given);
          return { run: this.run };
        },
        delegate: async (given: (typeof this.delegations)[0]) => void this.delegations.push(given),
      },
      members: {
        find: async (_: string, who: string) =>
          this.members.find(({ personId, email }) => who === personId || who === email) ?? null,
      },
      registryCalls: { accounts: { listRecipients: async () => names } },
      audit: { note: (act: (typeof this.audit)[0]) => void this.audit.push(act) },
      logger: { warn() {} },
    };
    const opened = await new LinkedQuestions(parts as never).open('token');
    if (opened === null) throw new Error('no link');
    return opened;
  }

  async answer() {
    return (await this.open()).answer({ answerJson: '{"ok":true}', comment: 'why' }, FROM);
  }
}

test('the recipient of a link is the member who has its address now, in their role', async () => {
  const world = new World({}, [member]);
  await world.answer();
  const [given] = world.answers;
  const actor = { ...member, linkRecipient: ADA };
  deepEqual([given?.actor, given?.channel, given?.comment], [actor, AnswerChannel.LINK, 'why']);
  deepEqual([world.audit[0]?.doer.id, world.used], [ADA_ID, 1]);
});

test('an accepted answer is reported as such, even if the question cannot be read afterwards', async () => {
  for (const [run, state] of [
    [{ answers: [] }, 'answered'],
    [{ answers: [], question: { id: QUESTION_ID } }, 'open'],
  ] as const) {
    const world = new World();
    world.run = run;
    const opened = await world.open();
    world.away = true;
    const after = await opened.answer({ answerJson: '{"ok":true}', comment: '' }, FROM);
    deepEqual([after.state, after.receipt, world.answers.length], [state, null, 1]);
  }
});

test('a recipient without membership answers as their address, and a chat as its name; the audit log has both', async () => {
  const world = new World();
  await world.answer();
  deepEqual(world.answers[0]?.actor, { ...NO_ONE, linkRecipient: ADA });
  deepEqual(
    [world.audit[0]?.doer.kind, world.audit[0]?.facts],
    ['system', { question_id: QUESTION_ID, channel: 'link', counted: 'answer', recipient: ADA }],
  );
  // A chat named like a member is not that member.
  const chat = new World({ recipient: 'payments' }, [{ ...member, email: 'payments' }]);
  await chat.answer();
  deepEqual(
    [chat.answers[0]?.channel, chat.answers[0]?.actor],
    [AnswerChannel.CHAT, { ...NO_ONE, linkRecipient: 'payments' }],
  );
});

test('the link of a person whose access has ended answers nothing', async () => {
  const world = new World({ userId: ADA_ID });
  const opened = await world.open();
  equal(opened.visitor.state, 'ended');
  await rejects(world.answer(), { code: 'not_an_answerer' });
  await rejects(opened.delegate(ADA, FROM), { code: 'not_an_answerer' });
  deepEqual([world.answers, world.delegations], [[], []]);
});

test('a question is delegated to a member by address, and to no one else', async () => {
  const bob = { ...member, personId: 'usr_1123456789abcdefghjkmnpqrs', email: 'bob@acme.example', name: 'Bob' };
  const world = new World({}, [bob]);
  const opened = await world.open();
  equal(await opened.delegate(bob.email, FROM), 'Bob');
  deepEqual(world.delegations[0]?.to, bob);
  deepEqual([world.audit[0]?.action, world.used], ['run.delegate', 0]);
  await rejects(opened.delegate('eve@acme.example', FROM), { code: 'invalid_request' });
  equal(world.delegations.length, 1);
});

test('a question shows its rules and votes, and afterwards its receipt', async () => {
  const world = new World();
  const vote = {
    actor: { ...NO_ONE, name: 'Bob' },
    answerJson: '{}',
    atMs: 5,
    channel: AnswerChannel.INBOX,
    comment: '',
  };
  const policy = { needs: 2, timeoutAnswerJson: '{"ok":false}' };
  world.question = { ...world.question, policy, votes: [vote] };
  const open = (await world.open()).question;
  deepEqual([open?.needs, open?.timeoutAnswerJson, open?.votes[0]?.by], [2, '{"ok":false}', 'Bob']);
  const receipt = { answeredAtMs: 7, comment: '', answerJson: '{"ok":false}', votes: [] };
  world.item = { ...world.item, state: QuestionState.ANSWERED, closedAtMs: 7 };
  world.receipt = { ...receipt, channel: AnswerChannel.TIMEOUT };
  const closed = (await world.open()).question;
  deepEqual([closed?.state, closed?.prompt, closed?.receipt?.timedOut], ['answered', 'Pay?', true]);
  world.receipt = { ...receipt, actor: NO_ONE, channel: AnswerChannel.API, votes: [vote, vote] };
  deepEqual((await world.open()).question?.receipt?.agreed, ['Bob', 'Bob']);
  world.gone = true;
  equal((await world.open()).question, null);
});
