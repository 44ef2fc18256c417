import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceError } from '@methods/errors/service-error';
import { askedQuestion, EVERY_CONTROL, RECIPIENT } from '../../testing/asked-question.fixture.ts';
import { APPROVED, NOW_MS, Visitor } from '../../testing/page-visitor.fixture.ts';
import type { PlayedBrowser } from '../../testing/played-browser.fixture.ts';
import type { AskedQuestion } from './asked-question.ts';

const HOUR_MS = 3_600_000;

test('an answer is chosen, checked and sent', async () => {
  const ada = new Visitor(askedQuestion());
  const page = ada.look();
  match(page.text, /Refund 250 EUR to ord_7f3\?/);
  match(page.text, /Answer by Tue 24 Nov 2026, 16:00 CET \(15:00 UTC\); after that the run fails\./);
  page.choose('/decision', 'Approve').type('/note', 'It came back.').type('comment', 'As agreed.');
  const check = await page.press('Continue');
  match(check.text, /Check your answer: Approve/);
  match(check.text, /This cannot be undone/);
  match(check.text, /It came back\./);
  match(check.text, /As agreed\./);
  deepEqual(ada.sent, []);
  const sent = await check.press('Send answer');
  deepEqual(ada.sent, [{ answerJson: '{"decision":"approve","note":"It came back."}', comment: 'As agreed.' }]);
  match(sent.text, /Sent: Approve, 14:31 CET\. You can close this page\./);
});

test('a person changes the answer before it is sent', async () => {
  const ada = new Visitor(askedQuestion());
  const check = await ada.look().choose('/decision', 'Approve').type('/note', 'two\nlines').press('Continue');
  const again = await check.press('Change');
  match(again.html, /value="&quot;approve&quot;" checked/);
  equal(again.typed('/note'), 'two\r\nlines');
  await (await again.choose('/decision', 'Reject').press('Continue')).press('Send answer');
  deepEqual(
    ada.sent.map(({ answerJson }) => answerJson),
    ['{"decision":"reject","note":"two\\nlines"}'],
  );
});

test('missing values are reported at their fields and in a list with links', async () => {
  const ada = new Visitor(askedQuestion({ formJson: JSON.stringify(EVERY_CONTROL) }));
  const page = ada.look();
  const wrong = await page.type('/amount', 'many').type('/lines/0/amount', '2').press('Continue');
  equal(ada.last?.status, 422);
  match(ada.last?.title ?? '', /^Error: /);
  match(wrong.html, /role="alert" tabindex="-1" autofocus/);
  match(wrong.text, /Decision: Choose Approve, Reject or Ask again\./);
  match(wrong.text, /Lines 1, Item needs a value/);
  const [, id = ''] = /<a href="#(f\d+)">Amount in EUR must be a number/.exec(wrong.html) ?? [];
  match(
    wrong.html,
    new RegExp(`<input id="${id}" name="/amount" aria-describedby="${id}-hint ${id}-fault" aria-invalid="true"`),
  );
  equal(wrong.typed('/amount'), 'many');
  deepEqual(ada.sent, []);
});

test('rows are added and removed without a script', async () => {
  const ada = new Visitor(askedQuestion({ formJson: JSON.stringify(EVERY_CONTROL) }));
  let page = await ada.look().type('/lines/0/item', 'pen').press('Add another');
  page = await page.type('/lines/1/item', 'ink').press('Add another');
  page = await page.type('/lines/2/item', 'cap').press('Remove Lines 2');
  deepEqual([page.typed('/lines/0/item'), page.typed('/lines/1/item')], ['pen', 'cap']);
  page.choose('/decision', 'Ask again').choose('/sure', 'No').type('/amount', '5').type('/call_at', '2026-11-24T09:30');
  await (await page.press('Continue')).press('Send answer');
  deepEqual(JSON.parse(ada.sent[0]?.answerJson ?? ''), {
    decision: 'ask_again',
    sure: false,
    amount: 5,
    call_at: '2026-11-24T09:30:00Z',
    lines: [{ item: 'pen' }, { item: 'cap' }],
  });
});

test('a post without the page, from another page, or hours later shows the form again and sends nothing', async () => {
  const ada = new Visitor(askedQuestion());
  const other = new Visitor(askedQuestion({ questionId: 'q_1123456789abcdefghjkmnpqrs' }), { secret: 'b'.repeat(43) });
  const foreign = other.look().choose('/decision', 'Approve').controls;
  const forged = [
    ['do', 'send'],
    ['/decision', '"approve"'],
  ] as const;
  const old = new Visitor(askedQuestion());
  old.nowMs = NOW_MS - 5 * HOUR_MS;
  for (const posted of [foreign, forged, old.look().choose('/decision', 'Approve').controls, []]) {
    const page = await ada.look().post(posted);
    match(page.text, /open for long, or it belongs to another question/);
    equal(ada.last?.status, 400);
  }
  deepEqual([...ada.sent, ...other.sent, ...old.sent], []);
});

test('the answer that is sent is the one that was checked', async () => {
  const ada = new Visitor(askedQuestion());
  const check = await ada.look().choose('/decision', 'Approve').press('Continue');
  const swapped = check.controls.map(([name, text]) => [name, name === '/decision' ? '"reject"' : text] as const);
  const again = await check.post([...swapped, ['do', 'send']]);
  match(again.text, /Your answer has changed\. Check it once more\./);
  match(again.text, /Check your answer: Reject/);
  deepEqual(ada.sent, []);
});

test('a program that presses every button does not answer', async () => {
  const forms = [
    askedQuestion().formJson,
    JSON.stringify({ type: 'object', properties: {} }),
    JSON.stringify({ type: 'object', properties: { decision: { enum: ['yes', 'no'], default: 'yes' } } }),
    JSON.stringify({ type: 'object', required: ['why'], properties: { why: { type: 'string' } } }),
  ];
  for (const formJson of forms) {
    const ada = new Visitor(askedQuestion({ formJson }));
    const seen = new Set<string>();
    const pressAll = async (page: PlayedBrowser): Promise<void> => {
      for (const button of page.buttons) {
        const next = await page.press(button);
        if (seen.size < 20 && !seen.has(next.text)) {
          seen.add(next.text);
          await pressAll(next);
        }
      }
    };
    await pressAll(ada.look());
    deepEqual(ada.sent, [], formJson);
    ok(seen.size > 0);
  }
});

test('a form that could be sent unchanged is sent by a person who confirms that they have read it', async () => {
  const formJson = JSON.stringify({
    type: 'object',
    properties: { decision: { enum: ['yes', 'no'], default: 'yes' } },
  });
  const ada = new Visitor(askedQuestion({ formJson }));
  const page = ada.look();
  match((await page.press('Continue')).text, /Tick that you have read this/);
  const check = await page.choose('read', 'I have read this, and my answer is as above.').press('Continue');
  match(check.text, /Check your answer: Yes/);
  await check.press('Send answer');
  deepEqual(
    ada.sent.map(({ answerJson }) => answerJson),
    ['{}'],
  );
});

test('a comment has at most 2,000 characters', async () => {
  const ada = new Visitor(askedQuestion());
  const page = ada.look().choose('/decision', 'Approve');
  match((await page.type('comment', 'x'.repeat(2_001)).press('Continue')).text, /1 characters more than 2000/);
  match((await page.type('comment', 'x'.repeat(2_000)).press('Continue')).text, /Check your answer/);
});

test('a question is delegated to a member by address, and stays open to the one who delegated it', async () => {
  const ada = new Visitor(askedQuestion());
  const page = ada.look().choose('/decision', 'Approve');
  match((await page.press('Hand over')).text, /Address of a member needs a value/);
  const given = await page.type('to', ' grace@acme.example ').press('Hand over');
  match(given.text, /Grace may answer this question now\. So may you\./);
  deepEqual([ada.delegates, ada.sent], [['grace@acme.example'], []]);
  const findings = [{ path: '/to', code: 'no_member', message: 'is no member' }] as const;
  ada.refusal = new ServiceError('invalid_request', undefined, { findings });
  const refused = await page.press('Hand over');
  match(refused.html, /<details open>/);
  match(refused.text, /grace@acme\.example is no member/);
  match(refused.html, /value="&quot;approve&quot;" checked/);
  equal(ada.last?.status, 422);
});

test('an answer over 64 KiB is refused before it is sent', async () => {
  const ada = new Visitor(askedQuestion());
  const page = await ada
    .look()
    .choose('/decision', 'Approve')
    .type('/note', 'ä'.repeat(33 * 1024))
    .press('Continue');
  match(page.text, /is too large: an answer has at most 64 KiB/);
});

test('the refusals of the run are shown where a person can act on them', async () => {
  const cases: readonly (readonly [ServiceError, number, RegExp, Partial<AskedQuestion>?])[] = [
    [
      new ServiceError('invalid_answer', undefined, {
        findings: [{ path: '/note', code: 'check_failed', message: 'is not polite' }],
      }),
      422,
      /Note is not polite/,
    ],
    [new ServiceError('unavailable'), 503, /not known whether your answer arrived\. Send it again/],
    [
      new ServiceError('unavailable'),
      200,
      /Answered: Reject, .* through the link sent to/,
      {
        state: 'answered',
        receipt: { ...APPROVED, linkRecipient: RECIPIENT.name, answerJson: '{"decision":"reject"}' },
      },
    ],
    [
      new ServiceError('unavailable'),
      200,
      /Answered: Reject, .* The question stays open until enough people/,
      { needs: 2, votes: [{ ...APPROVED, linkRecipient: RECIPIENT.name, answerJson: '{"decision":"reject"}' }] },
    ],
    [new ServiceError('rate_limited'), 429, /could not be sent just now/],
    [new ServiceError('not_an_answerer'), 403, /You may not answer this question\. Your answer was not used\./],
    [
      new ServiceError('vote_final'),
      200,
      /Answered: Reject, .* The question stays open until enough people/,
      { needs: 2, votes: [{ ...APPROVED, linkRecipient: RECIPIENT.name, answerJson: '{"decision":"reject"}' }] },
    ],
    [new ServiceError('forbidden', 'You started this run.'), 403, /You started this run\./],
    [
      new ServiceError('question_changed'),
      200,
      /Grace answered first: Approve\. Yours was not used\./,
      { state: 'answered', receipt: APPROVED },
    ],
    [new ServiceError('run_finished'), 200, /The run was cancelled\. No answer is needed\./, { state: 'cancelled' }],
    [
      new ServiceError('run_not_waiting'),
      200,
      /closed on Mon 23 Nov 2026, 14:31 CET \(13:31 UTC\) without an answer/,
      { state: 'expired', closedAtMs: NOW_MS },
    ],
  ];
  for (const [refusal, status, words, afterwards] of cases) {
    const ada = new Visitor(askedQuestion());
    const check = await ada.look().choose('/decision', 'Reject').press('Continue');
    ada.refusal = refusal;
    ada.later = { ...ada.question, ...afterwards };
    const page = await check.press('Send answer');
    match(page.text, words);
    equal(ada.last?.status, status, refusal.code);
  }
});

test('a question that cannot be handed over now keeps its form, with nothing to send', async () => {
  for (const [code, status] of [
    ['unavailable', 503],
    ['rate_limited', 429],
  ] as const) {
    const ada = new Visitor(askedQuestion());
    ada.refusal = new ServiceError(code);
    const page = await ada.look().type('to', 'grace@acme.example').press('Hand over');
    match(page.text, /could not be handed over just now/);
    equal(page.typed('to'), 'grace@acme.example');
    equal(/Send answer/.test(page.html), false);
    equal(ada.last?.status, status);
  }
});

test('a long value has a page of its own', () => {
  const valueJson = JSON.stringify('long '.repeat(60_000));
  const ada = new Visitor(askedQuestion({ show: [{ path: 'inputs.text', valueJson }] }));
  match(ada.look().html, /<a href="\?show=0">Show all/);
  ok(ada.look('0').text.length > 300_000);
  for (const show of ['1', '-1', 'x', '999', '__proto__']) match(ada.look(show).text, /Your answer/);
});

test('content that is kept on devices is not requested here', () => {
  const page = new Visitor(askedQuestion({ formJson: '', prompt: '', show: [] })).look();
  match(page.text, /A question waits on the run run_/);
});

test('a person who may not answer reads the question and why, without a form, and a post sends nothing', async () => {
  const why = {
    viewer: /Viewers answer only questions that name them/,
    starter: /excludes the person who started the run/,
    not_named: /lets other people answer it/,
    voted: /answered it already through a link/,
  } as const;
  const visitor = { ...RECIPIENT, linkRecipient: null };
  for (const [refusal, words] of Object.entries(why)) {
    const ada = new Visitor(askedQuestion({ refusal: refusal as keyof typeof why }), { visitor });
    const page = ada.look();
    match(page.text, /Refund 250 EUR to ord_7f3\?/);
    match(page.text, words);
    equal(/<form|radio/.test(page.html), false);
    equal(ada.page.status, 200);
    const form = await new Visitor(askedQuestion(), { visitor })
      .look()
      .choose('/decision', 'Approve')
      .press('Continue');
    await page.post([...form.controls, ['do', 'send']]);
    deepEqual([ada.last?.status, ada.sent], [403, []]);
  }
  const ada = new Visitor(askedQuestion({ needs: 2 }), { visitor });
  ada.refusal = new ServiceError('vote_final');
  const check = await ada.look().choose('/decision', 'Approve').press('Continue');
  match((await check.press('Send answer')).text, /Your answer was not used\. You have answered it already/);
});
