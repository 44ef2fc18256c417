import { deepEqual, equal, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import type { OrgId, QuestionId, RunId, UserId } from '@methods/base/ids';
import { type AnswerLink, LinkState } from '@methods/proto/notifier/v1/link_service_pb';
import { type Actor, AnswerChannel, type Question, RunStatus, type RunView } from '@methods/proto/run/v1/run_pb';
import { NO_ONE } from '../../plugins/request-actor.ts';
import { LinkedQuestions } from './linked-questions.ts';

const ADA = 'ada@acme.example';
const ADA_ID = 'usr_0123456789abcdefghjkmnpqrs' as UserId;
const QUESTION_ID = 'q_0123456789abcdefghjkmnpqrs' as QuestionId;

interface Member {
  readonly userId: UserId;
  readonly email: string;
  readonly role: string;
  readonly disabledAtMs: number;
}

const member: Member = { userId: ADA_ID, email: ADA, role: 'member', disabledAtMs: 0 };

/** One link to one question, in an organization with these members. */
class World {
  readonly answers: { actor: Actor; channel: AnswerChannel; comment: string }[] = [];
  readonly audit: { doer: { kind: string; id: string }; facts?: object }[] = [];
  used = 0;
  run: Partial<RunView> = { status: RunStatus.WAITING, question: question({}), answers: [] };

  constructor(
    private readonly link: Partial<AnswerLink> = {},
    private readonly members: readonly Member[] = [],
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
    } as AnswerLink;
    const parts = {
      links: { open: async () => link, use: async () => void this.used++ },
      scheduler: {
        getRun: async () => this.run,
        answerRun: async (
          _: object,
          given: (typeof this.answers)[0],
          { answered }: { answered: (run: object) => null },
        ) => {
          this.answers.push(given);
          answered(this.run);
          return this.run;
        },
      },
      registryCalls: {
        accounts: {
          listRecipients: async ({ to }: { to: string[] }) => ({
            orgName: 'Acme',
            methodName: 'pay',
            timeZone: 'UTC',
            contentOnDevices: false,
            recipients: this.members.filter(({ email, disabledAtMs }) => to.includes(email) && disabledAtMs === 0),
          }),
          getMember: async ({ userId }: { userId: string }) => ({
            member: this.members.find((each) => each.userId === userId),
          }),
        },
      },
      audit: { note: (act: (typeof this.audit)[0]) => void this.audit.push(act) },
      logger: { warn() {} },
    };
    const opened = await new LinkedQuestions(parts as never).open('token', 'req');
    if (opened === null) throw new Error('no link');
    return opened;
  }

  async answer() {
    const opened = await this.open();
    return opened.answer({ answerJson: '{"ok":true}', comment: 'why' }, { ip: '', requestId: 'req' });
  }
}

function question(changes: Partial<Question>): Question {
  const shown = { step: 'approval', prompt: 'Pay?', details: '', show: [], formJson: '{}', deadlineAtMs: 0, votes: [] };
  return { id: QUESTION_ID, ...shown, ...changes } as unknown as Question;
}

test('the recipient of a link is the member who has its address now, in their role', async () => {
  const world = new World({}, [member]);
  await world.answer();
  const actor = { ...NO_ONE, personId: ADA_ID, email: ADA, name: '', role: 'member', linkRecipient: ADA };
  const [given] = world.answers;
  deepEqual([given?.actor, given?.channel, given?.comment], [actor, AnswerChannel.LINK, 'why']);
  deepEqual([world.audit[0]?.doer.id, world.used], [ADA_ID, 1]);
});

test('a recipient who is no member answers as their address, and a chat as its name; the audit log has both', async () => {
  const world = new World();
  await world.answer();
  deepEqual(world.answers[0]?.actor, { ...NO_ONE, linkRecipient: ADA });
  deepEqual(
    [world.audit[0]?.doer.kind, world.audit[0]?.facts],
    ['system', { question_id: QUESTION_ID, channel: 'link', counted: 'answer', recipient: ADA }],
  );
  const chat = new World({ recipient: 'payments' });
  await chat.answer();
  deepEqual([chat.answers[0]?.channel, chat.answers[0]?.actor.linkRecipient], [AnswerChannel.CHAT, 'payments']);
});

test('the link of a person whose access has ended answers nothing', async () => {
  const world = new World({ userId: ADA_ID }, [{ ...member, disabledAtMs: 1 }]);
  equal((await world.open()).visitor.state, 'ended');
  await rejects(world.answer(), { code: 'not_found' });
  deepEqual(world.answers, []);
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
  world.run = { status: RunStatus.WAITING, answers: [], question: question({ policy, votes: [vote] } as never) };
  const open = (await world.open()).question;
  deepEqual([open?.needs, open?.timeoutAnswerJson, open?.votes[0]?.by], [2, '{"ok":false}', 'Bob']);
  const receipt = { questionId: QUESTION_ID, step: 'approval', prompt: 'Pay?', answeredAtMs: 7, comment: '' };
  const timedOut = { ...receipt, channel: AnswerChannel.TIMEOUT, answerJson: '{"ok":false}', votes: [] };
  world.run = { status: RunStatus.SUCCEEDED, answers: [timedOut] } as never;
  const closed = (await world.open()).question;
  deepEqual([closed?.state, closed?.prompt, closed?.receipt?.timedOut], ['answered', 'Pay?', true]);
  const together = { ...receipt, actor: NO_ONE, channel: AnswerChannel.API, answerJson: '', votes: [vote, vote] };
  world.run = { status: RunStatus.SUCCEEDED, answers: [together] } as never;
  deepEqual((await world.open()).question?.receipt?.agreed, ['Bob', 'Bob']);
});
