// Mail about questions through a whole notifier, to a real SMTP server.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, test } from 'node:test';
import { newId, newMethodId } from '@methods/base/ids';
import { Answerer } from '@methods/proto/run/v1/run_pb';
import { until } from '@methods/test/harness/until';
import { refusal } from '../test/mail-server.fixture.ts';
import {
  asked,
  closed,
  commonMailing,
  deliveries,
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

test('a question for the team is mailed to its recipient, with a link stored only by its hash', async () => {
  const { orgId, first } = organization(mailing, 'ada');
  const event = asked(orgId, { deadlineAtMs: Date.parse('2031-11-25T15:00:00Z') });
  await mailing.stack.emit(event);
  const [mail] = await mailed(mailing, first.email);
  const raw = plain(mail);
  assert.match(raw, /^Subject: approve-refund asks: Refund 250 EUR to ord_7f3\?\r$/m);
  assert.match(raw, /^Auto-Submitted: auto-generated\r$/m);
  assert.match(raw, /^Message-ID: <[0-9a-f]{40}@example\.com>\r$/m);
  assert.match(raw, /A run of approve-refund in Acme waits for your answer\./);
  assert.match(raw, /By Tue 25 Nov 2031, 16:00 (CET|GMT\+1) \(15:00 UTC\); after that the run fails\./);
  assert.match(raw, /You get this because you last published the method\./);
  const token = tokenIn(mail);
  const [link] = await mailing.stack.database.sql<{ recipient: string; question_id: string; token_sha256: Buffer }[]>`
    select recipient, question_id, token_sha256 from notifier.answer_links where org_id = ${orgId}`;
  assert.equal(link?.question_id, event.question.id);
  assert.deepEqual(Buffer.from(link.token_sha256), createHash('sha256').update(token).digest());
  const rows = await ended(mailing, orgId, 2);
  assert.deepEqual(
    rows.map(({ url, status, errors }) => [url, status, errors]),
    [
      ['mailto:', 'delivered', ['']],
      [`mailto:${first.email}`, 'delivered', ['']],
    ],
  );
  assert.ok(!JSON.stringify(rows).includes(token));
});

test('a question inside a call goes to the people of the method of its run', async () => {
  const { orgId, first } = organization(mailing, 'ada');
  const method = newMethodId();
  const whole = asked(orgId, { step: 'inner/approve' }, { method: `wf_${method}` });
  await mailing.stack.emit(whole);
  await mailed(mailing, first.email);
  assert.deepEqual(mailing.stack.methodsAsked.get(orgId), [`wf_${method}`]);
});

test('an endpoint that takes a question does not make the application its answerer: the team is mailed', async () => {
  const { orgId, first } = organization(mailing, 'ada');
  const endpoint = {
    endpointId: newId('ep'),
    name: 'All runs',
    format: 'webhook',
    url: 'http://127.0.0.1:1/',
  } as const;
  const more = { events: ['needs_input'], paused: false, secret: 'whsec_1', earlier: [], changedAtMs: 1 } as const;
  mailing.stack.setEndpoints(orgId, [{ ...endpoint, ...more }]);
  const event = asked(orgId);
  await mailing.stack.emit(event);
  assert.match(plain((await mailed(mailing, first.email))[0]), /waits for your answer/);
  const kinds = await mailing.stack.database.sql<{ kind: string }[]>`
    select distinct kind from notifier.deliveries where org_id = ${orgId} order by kind`;
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    ['endpoint', 'mail'],
  );
});

test('no mail is sent beside an application that answers, unless only people may answer', async () => {
  const { orgId, first } = organization(mailing, 'ada');
  const application = { answerBy: Answerer.APPLICATION };
  const alone = asked(orgId, {}, application);
  await mailing.stack.emit(alone);
  const people = asked(orgId, { policy: { ...POLICY, needs: 2 } }, application);
  await mailing.stack.emit(people);
  await mailed(mailing, first.email);
  await until('both are taken', () => mailing.stack.confirmed.includes(alone.outboxId ?? ''));
  assert.deepEqual(await ended(mailing, orgId, 2).then((rows) => rows.length), 2);
  assert.equal(mailsTo(mailing, first.email).length, 1);
});

test('names, roles and exclusions are respected, and an address with a line break gets nothing', async () => {
  const { orgId, people, first } = organization(mailing, 'ada', 'ben', 'cleo');
  const [, ben, cleo] = people;
  let named: readonly string[] = [];
  const broken = {
    userId: '',
    email: 'eve@example.com\r\nBcc: all@example.com',
    name: 'Eve',
    reason: 'named',
  } as const;
  mailing.stack.recipients.set(orgId, (to) => {
    named = to;
    return [...people, broken];
  });
  const policy = { ...POLICY, to: ['member', 'x@example.com'], notStarter: true };
  const votes = [{ actor: { email: ben?.email ?? '' } }];
  const starter = { personId: first.userId, email: first.email };
  await mailing.stack.emit(asked(orgId, { policy, votes }, { starter, event: 'question.reminded', seq: 3 }));
  const [mail] = await mailed(mailing, cleo?.email ?? '');
  const rows = await ended(mailing, orgId, 2);
  assert.deepEqual(named, ['member', 'x@example.com']);
  assert.deepEqual(rows.map(({ url }) => url).sort(), ['mailto:', `mailto:${cleo?.email}`]);
  assert.match(mail?.raw ?? '', /^Subject: Reminder: approve-refund asks/m);
  assert.match(mail?.raw ?? '', /^In-Reply-To: <[0-9a-f]{40}@example\.com>\r$/m);
});

test('an escalation is mailed to its own people, also when the application answers', async () => {
  const { orgId, first } = organization(mailing, 'ada');
  let named: readonly string[] = [];
  const known = mailing.stack.recipients.get(orgId);
  mailing.stack.recipients.set(orgId, (to) => {
    named = to;
    return known?.(to) ?? [];
  });
  const policy = { ...POLICY, escalateTo: ['admin'] };
  await mailing.stack.emit(
    asked(orgId, { policy }, { event: 'question.escalated', seq: 3, answerBy: Answerer.APPLICATION }),
  );
  const [mail] = await mailed(mailing, first.email);
  assert.deepEqual(named, ['admin']);
  assert.match(mail?.raw ?? '', /^Subject: Escalated: /m);
});

test('a refused address is tried once, a busy server again with the same mail, and each try is recorded', async () => {
  const { orgId, people } = organization(mailing, 'gone', 'busy', 'ada');
  const [gone, busy, ada] = people.map(({ email }) => email);
  let tries = 0;
  mailing.onRecipient.set(gone ?? '', () => {
    throw refusal('5.1.1 no such mailbox', 550);
  });
  mailing.onRecipient.set(busy ?? '', () => {
    if (tries++ === 0) throw refusal('4.2.1 later', 450);
  });
  await mailing.stack.emit(asked(orgId));
  const rows = await ended(mailing, orgId, 4);
  const byUrl = new Map(rows.map((row) => [row.url, row]));
  assert.equal(byUrl.get(`mailto:${gone}`)?.status, 'stopped');
  assert.deepEqual(byUrl.get(`mailto:${gone}`)?.errors, ['address_refused']);
  assert.match(byUrl.get(`mailto:${gone}`)?.answers[0] ?? '', /no such mailbox/);
  assert.deepEqual(byUrl.get(`mailto:${busy}`)?.errors, ['address_refused', '']);
  assert.equal(byUrl.get(`mailto:${ada}`)?.status, 'delivered');
  assert.equal(mailsTo(mailing, busy ?? '').length, 1);
});

test('when a question closes its links end, and mails that wait for a try are not sent', async () => {
  const { orgId, people } = organization(mailing, 'ada', 'slow');
  const [ada, slow] = people.map(({ email }) => email);
  const event = asked(orgId);
  let tries = 0;
  mailing.onRecipient.set(slow ?? '', async () => {
    if (tries++ > 0) return;
    // The question closes while its mail is being sent.
    await mailing.stack.emit(closed(event));
    await until('its links have ended', async () => {
      const [row] = await mailing.stack.database.sql<{ open: number }[]>`
        select count(*)::int as open from notifier.answer_links where org_id = ${orgId} and ended_at is null`;
      return row?.open === 0;
    });
    throw refusal('4.2.1 later', 450);
  });
  await mailing.stack.emit(event);
  const rows = await ended(mailing, orgId, 3);
  const errors = Object.fromEntries(rows.map((row) => [row.url, row.errors]));
  assert.deepEqual(errors[`mailto:${slow}`], ['address_refused', 'question_closed']);
  assert.ok(mailsTo(mailing, ada ?? '').length <= 1);
});

test('a question that closes before its recipients are known is mailed to no one', async () => {
  const { orgId, first } = organization(mailing, 'ada');
  const known = mailing.stack.recipients.get(orgId);
  mailing.stack.recipients.set(orgId, null);
  const event = asked(orgId);
  await mailing.stack.emit(event);
  await until('it waits for the registry', async () => (await deliveries(mailing, orgId)).length === 1);
  const end = closed(event);
  await mailing.stack.emit(end);
  await until('its end is known', () => mailing.stack.confirmed.includes(end.outboxId ?? ''));
  mailing.stack.recipients.set(orgId, known ?? null);
  const [row] = await ended(mailing, orgId, 1);
  assert.deepEqual([row?.status, row?.errors], ['stopped', ['question_closed']]);
  assert.equal(mailsTo(mailing, first.email).length, 0);
  // The bus may deliver an event again, or after a later one.
  const late = asked(orgId, {}, { outboxId: newId('fld') });
  await mailing.stack.emit(closed(late));
  await mailing.stack.emit(late);
  assert.equal((await ended(mailing, orgId, 2)).length, 2);
  assert.equal(mailsTo(mailing, first.email).length, 0);
});

test('a question for people that closes before it is known is mailed to no one, even if the application answers', async () => {
  const { orgId, first } = organization(mailing, 'ada');
  const late = asked(orgId, { policy: { ...POLICY, to: [first.email] } }, { answerBy: Answerer.APPLICATION });
  const end = closed(late, { askedPeople: true });
  await mailing.stack.emit(end);
  await until('its end is known', () => mailing.stack.confirmed.includes(end.outboxId ?? ''));
  await mailing.stack.emit(late);
  const rows = await ended(mailing, orgId, 1);
  assert.deepEqual(
    rows.map(({ url, errors }) => [url, errors]),
    [['mailto:', ['question_closed']]],
  );
  assert.equal(mailsTo(mailing, first.email).length, 0);
});

test('a mail whose people cannot be found for an unknown reason is tried a bounded number of times', async () => {
  const { orgId, first } = organization(mailing, 'ada');
  mailing.stack.recipients.set(orgId, () => {
    throw new Error('a fault that stays');
  });
  await mailing.stack.emit(asked(orgId));
  const [row] = await ended(mailing, orgId, 1);
  assert.equal(row?.status, 'exhausted');
  assert.ok(row.errors.every((error) => error === 'not_prepared'));
  assert.equal(mailsTo(mailing, first.email).length, 0);
});

test('a member whose access ended gets no pending mail', async () => {
  const { orgId, first } = organization(mailing, 'ada');
  mailing.stack.removed.add(first.userId);
  await mailing.stack.emit(asked(orgId));
  const rows = await ended(mailing, orgId, 2);
  assert.deepEqual(rows[1]?.errors, ['recipient_removed']);
  assert.equal(mailsTo(mailing, first.email).length, 0);
});

test('without a verified address no one is mailed, and the record says so', async () => {
  const orgId = newId('org');
  await mailing.stack.emit(asked(orgId));
  const [row] = await ended(mailing, orgId, 1);
  assert.match(row?.answers[0] ?? '', /in the Inbox only/);
});

test('a person who gets many mails in an hour gets one of several questions instead, whose links work', async () => {
  const { orgId, first } = organization(mailing, 'ada');
  const events = Array.from({ length: 25 }, (_, n) => asked(orgId, { prompt: `Question ${n}?` }));
  for (const event of events) await mailing.stack.emit(event);
  await mailed(mailing, first.email, 20);
  const waiting = await until('the digest waits', async () => {
    const [row] = await mailing.stack.database.sql<{ delivery_id: string; parts: number; left_ms: number }[]>`
      select d.delivery_id, extract(epoch from d.due_at - now())::float8 * 1000 as left_ms, (select count(*)::int
        from notifier.mail_digests m where m.org_id = d.org_id and m.delivery_id = d.delivery_id) as parts
      from notifier.deliveries d where d.org_id = ${orgId} and d.url <> 'mailto:' and d.status = 'pending'`;
    return row?.parts === 5 ? row : null;
  });
  assert.equal(mailsTo(mailing, first.email).length, 20);
  assert.ok(waiting.left_ms > 3_000_000, 'until the end of the hour');
  // One of them closes meanwhile; then the hour ends.
  const [part] = await mailing.stack.database.sql<{ part: string }[]>`
    select part from notifier.mail_digests where org_id = ${orgId} order by run_id limit 1`;
  const oldest = JSON.parse(part?.part ?? '{}').question;
  const end = closed(events.find(({ question }) => question.id === oldest.questionId) ?? assert.fail());
  await mailing.stack.emit(end);
  await until('its end is known', () => mailing.stack.confirmed.includes(end.outboxId ?? ''));
  await mailing.stack.database.sql`
    update notifier.deliveries set due_at = now() where org_id = ${orgId} and delivery_id = ${waiting.delivery_id}`;
  const digest = (await mailed(mailing, first.email, 21)).at(-1);
  assert.match(digest?.raw ?? '', /^Subject: 4 questions in Acme wait for your answer\r$/m);
  assert.equal(new Set(plain(digest).match(/\/a\/[A-Za-z0-9_-]{43}/g)).size, 4);
});

test('recipients that do not reply delay no mail of another organization', async () => {
  const dead = organization(mailing, ...Array.from({ length: 12 }, (_, n) => `dead${n}`));
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let waiting = 0;
  for (const { email } of dead.people) {
    mailing.onRecipient.set(email, () => {
      waiting++;
      return held;
    });
  }
  await mailing.stack.emit(asked(dead.orgId));
  await until('the dead recipients have all of the places they get', () => waiting === 4);
  const other = organization(mailing, 'ada');
  await mailing.stack.emit(asked(other.orgId));
  await mailed(mailing, other.first.email);
  assert.equal(mailsTo(mailing, dead.first.email).length, 0);
  const [rest] = await mailing.stack.database.sql<{ under_way: number; due: number; put_off: number }[]>`
    select count(*) filter (where claim is not null)::int as under_way,
      count(*) filter (where claim is null and due_at <= now())::int as due,
      count(*) filter (where claim is null and due_at > now())::int as put_off
    from notifier.deliveries where org_id = ${dead.orgId} and url <> 'mailto:' and status = 'pending'`;
  assert.deepEqual(rest, { under_way: 4, due: 8, put_off: 0 }, 'each of the others goes when a place is free');
  release();
  await until('they get theirs too', () => dead.people.every(({ email }) => mailsTo(mailing, email).length === 1));
});
