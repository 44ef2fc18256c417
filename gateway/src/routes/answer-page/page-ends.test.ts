import { doesNotMatch, equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import { askedQuestion, RECIPIENT } from '../../testing/asked-question.fixture.ts';
import { APPROVED, NOW_MS, Visitor } from '../../testing/page-visitor.fixture.ts';
import type { AskedQuestion } from './asked-question.ts';
import type { PageVisit } from './page-visit.ts';

test('a page that was sent cannot be sent again, even with another answer', async () => {
  const ada = new Visitor(askedQuestion());
  const check = await ada.look().choose('/decision', 'Approve').press('Continue');
  const other = await ada.look().choose('/decision', 'Reject').press('Continue');
  await check.press('Send answer');
  const receipt = { ...APPROVED, linkRecipient: RECIPIENT.name };
  ada.question = { ...ada.question, state: 'answered', receipt };
  for (const page of [check, other]) {
    match((await page.press('Send answer')).text, /Answered: Approve, .* through the link sent to ada@acme\.example/);
  }
  // The confirmation of one answer does not confirm another one.
  ada.question = askedQuestion();
  const confirmed = new Map(check.controls).get('confirmation') ?? '';
  const mixed = other.controls.map(([name, text]) => [name, name === 'confirmation' ? confirmed : text] as const);
  match((await other.post([...mixed, ['do', 'send']])).text, /Your answer has changed\. Check it once more\./);
  equal(ada.sent.length, 1);
});

test('a question that has ended shows how', () => {
  const seen = (changes: Partial<AskedQuestion>, visit: Partial<PageVisit> = {}) =>
    new Visitor(askedQuestion(changes), visit).look().text;
  const byLink = { ...APPROVED, linkRecipient: 'ada@acme.example' };
  match(
    seen({ state: 'answered', receipt: byLink }),
    /Answered: Approve, Mon 23 Nov 2026, 14:31 CET \(13:31 UTC\), through the link sent to ada@acme\.example\./,
  );
  match(seen({ state: 'answered', receipt: APPROVED }), /Answered: Approve, .*, by Grace\./);
  match(
    seen({ state: 'answered', receipt: { ...APPROVED, timedOut: true } }),
    /No one answered in time, and the method’s own answer counts: Approve, Mon 23 Nov/,
  );
  match(
    seen({
      state: 'answered',
      formJson: '',
      receipt: { ...APPROVED, agreed: ['Grace', 'Ada'], comment: 'As agreed.' },
    }),
    /Answered: Approve, .*, by Grace\. As agreed\. 2 people agreed: Grace, Ada\./,
  );
  match(seen({ state: 'cancelled' }), /The run was cancelled\. No answer is needed\./);
  match(seen({ state: 'expired', closedAtMs: NOW_MS }), /This question closed on .* without an answer\./);
  const over = new Visitor(askedQuestion(), { visitor: { ...RECIPIENT, state: 'over' } }).look();
  match(over.text, /This link has expired\./);
  match(over.html, /<a href="\/auth\/login\?return_to=\/q">Sign in to answer it<\/a>/);
  doesNotMatch(over.text, /Grace Hopper/);
});

test('votes are shown, and a link that has voted says so', async () => {
  const vote = { ...APPROVED, by: 'ada@acme.example', linkRecipient: 'ada@acme.example' };
  const voted = { needs: 2, votes: [vote] };
  const other = { ...RECIPIENT, name: 'bob@acme.example', linkRecipient: 'bob@acme.example' };
  const bob = new Visitor(askedQuestion(voted), { visitor: other }).look();
  match(bob.text, /Decided once 2 people gave the same answer\. ?ada@acme\.example: Approve/);
  const ada = new Visitor(askedQuestion(voted), { visitor: { ...RECIPIENT, state: 'used' } }).look();
  match(ada.text, /Answered: Approve, .* The question stays open until enough people gave the same answer\./);
  const sends = new Visitor(askedQuestion({ needs: 2 }), {
    answer: async () => askedQuestion(voted),
  });
  const sent = await (await sends.look().choose('/decision', 'Approve').press('Continue')).press('Send answer');
  match(sent.text, /Sent: Approve, 14:31 CET\. The question stays open/);
});
