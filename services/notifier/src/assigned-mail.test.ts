// Mail to a person to whom another person assigns a question, through a whole notifier.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, test } from 'node:test';
import { newId } from '@methods/base/ids';
import { Answerer } from '@methods/proto/run/v1/run_pb';
import {
  asked,
  commonMailing,
  ended,
  type Mailing,
  mailed,
  mailsTo,
  organization,
  POLICY,
  plain,
  tokenIn,
} from '../test/mailing-notifier.fixture.ts';

let mailing: Mailing;
before(async () => {
  mailing = await commonMailing();
});

test('a person who is assigned a question gets a mail with a separate link, and reminders, besides the people it asks', async () => {
  const { orgId, people } = organization(mailing, 'ada', 'ben');
  const [ada, ben] = people;
  mailing.stack.recipients.set(orgId, (to) =>
    people.filter(({ email }) => (to.length === 0 ? email === ada?.email : to.includes(email))),
  );
  const event = asked(orgId, {}, { answerBy: Answerer.APPLICATION });
  const [to, by] = [{ personId: ben?.userId, email: ben?.email }, { name: 'Ada' }];
  const assignment = { ...event, outboxId: newId('fld'), seq: 3, event: 'question.assigned', assigned: { to, by } };
  await mailing.stack.emit(assignment as never);
  const [mail] = await mailed(mailing, ben?.email ?? '');
  assert.match(plain(mail), /^Subject: Assigned to you: approve-refund asks/m);
  assert.match(plain(mail), /You get this because Ada has given you the question\./);
  const links = await mailing.stack.database.sql<{ recipient: string; token_sha256: Buffer }[]>`
    select recipient, token_sha256 from notifier.answer_links where org_id = ${orgId}`;
  assert.deepEqual(
    links.map(({ recipient }) => recipient),
    [ben?.email],
  );
  const token = createHash('sha256').update(tokenIn(mail)).digest();
  assert.deepEqual(Buffer.from(links[0]?.token_sha256 ?? []), token);
  // The same event again, as a bus may deliver it.
  await mailing.stack.emit({ ...assignment, outboxId: newId('fld') } as never);
  const question = { ...event.question, delegations: [{ to }] };
  await mailing.stack.emit({
    ...event,
    outboxId: newId('fld'),
    seq: 4,
    event: 'question.reminded',
    question,
    answerBy: Answerer.TEAM,
  } as never);
  await mailed(mailing, ada?.email ?? '');
  const [, reminder] = await mailed(mailing, ben?.email ?? '', 2);
  assert.match(reminder?.raw ?? '', /^Subject: Reminder: /m);
  assert.equal(tokenIn(reminder), tokenIn(mail));
  assert.equal((await ended(mailing, orgId, 5)).length, 5);
  assert.deepEqual(
    people.map(({ email }) => mailsTo(mailing, email).length),
    [1, 2],
  );
});

test('a person who has answered, or has no verified address, gets no mail about an assignment', async () => {
  const { orgId, first } = organization(mailing, 'ada');
  const policy = { ...POLICY, needs: 2 };
  const given = {
    event: 'question.assigned',
    seq: 3,
    assigned: { to: { personId: first.userId, email: first.email } },
  };
  await mailing.stack.emit(asked(orgId, { policy, votes: [{ actor: { email: first.email } }] }, given));
  const [row] = await ended(mailing, orgId, 1);
  assert.match(row?.answers[0] ?? '', /^Those who are asked have answered/);
  const nameless = organization(mailing, 'ben');
  mailing.stack.recipients.set(nameless.orgId, (to) => (to.length === 0 ? nameless.people : []));
  await mailing.stack.emit(
    asked(nameless.orgId, {}, { ...given, assigned: { to: { personId: nameless.first.userId } } }),
  );
  const [other] = await ended(mailing, nameless.orgId, 1);
  assert.match(other?.answers[0] ?? '', /in the Inbox only/);
  assert.deepEqual(
    [first, nameless.first].map(({ email }) => mailsTo(mailing, email).length),
    [0, 0],
  );
});
