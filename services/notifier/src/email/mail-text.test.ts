import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zonedTime } from '@methods/base/zoned-time';
import type { MailedMethod, MailedQuestion, MailRecipient } from './mail-job.ts';
import { digestMail, questionMail } from './mail-text.ts';
import { line, paragraph } from './shown-text.ts';

const NOW_MS = Date.parse('2026-11-23T10:00:00Z');
const method: MailedMethod = {
  orgName: 'Acme',
  name: 'approve-refund',
  timeZone: 'Europe/Vienna',
  contentOnDevices: false,
};
const question: MailedQuestion = {
  questionId: 'q_1',
  runId: 'run_1',
  prompt: 'Refund 250 EUR to ord_7f3?',
  details: 'The customer wrote twice.',
  show: [{ path: 'inputs.total', text: '250' }],
  deadlineAtMs: Date.parse('2026-11-24T15:00:00Z'),
  answersItself: false,
};
const recipient: MailRecipient = { userId: 'usr_1', email: 'ada@example.com', name: 'Ada', reason: 'publisher' };
const link = 'https://methods.example/a/token';
const asked = { event: 'needs_input', recipient, method, question, link } as const;

test('a mail states the question, its deadline, and why the recipient gets it, in both parts', () => {
  const { subject, text, html } = questionMail(asked, NOW_MS);
  assert.equal(subject, 'approve-refund asks: Refund 250 EUR to ord_7f3?');
  assert.equal(
    text,
    `A run of approve-refund in Acme waits for your answer.

Refund 250 EUR to ord_7f3?

The customer wrote twice.

inputs.total: 250

Look and answer: ${link}

By ${zonedTime(question.deadlineAtMs, 'Europe/Vienna', NOW_MS)}; after that the run fails.

Anyone with this link can answer once: do not forward it.

You get this because you last published the method.
`,
  );
  for (const part of [
    'waits for your answer',
    'ord_7f3',
    'The customer',
    `href="${link}"`,
    'do not forward',
    'published',
  ])
    assert.ok(html.includes(part), part);
});

test('a mail about an assigned question says so', () => {
  const { subject, text, html } = questionMail({ ...asked, assignedBy: 'Ben <b>' }, NOW_MS);
  assert.equal(subject, 'Assigned to you: approve-refund asks: Refund 250 EUR to ord_7f3?');
  assert.match(text, /You get this because Ben <b> has given you the question\./);
  assert.match(html, /because Ben &lt;b&gt; has given/);
});

test('a mail loads nothing external, fits a phone and has colours for dark mode', () => {
  const { html } = questionMail(asked, NOW_MS);
  assert.doesNotMatch(html.replaceAll(link, ''), /https?:|<img|<script|<link|@import|url\(|src=/i);
  assert.match(html, /<meta name="viewport" content="width=device-width/);
  assert.match(html, /prefers-color-scheme: dark/);
  assert.match(html, /<html lang="en">/);
});

test('texts of methods and people are escaped, cut and kept in their places', () => {
  const evil = '<img src=x onerror=alert(1)>"\u202e\u0000\r\nBcc: eve@example.com\r\n\r\n';
  const { subject, text, html } = questionMail(
    {
      ...asked,
      method: { ...method, name: evil + 'n'.repeat(500), orgName: evil + 'o'.repeat(500) },
      question: {
        ...question,
        prompt: evil + 'p'.repeat(100_000),
        details: evil + 'd'.repeat(100_000),
        show: [{ path: evil, text: evil }],
      },
    },
    NOW_MS,
  );
  assert.doesNotMatch(html, /<img/i);
  for (const part of [subject, text, html])
    for (const hidden of ['\u0000', '\u202e', '\r']) assert.ok(!part.includes(hidden));
  assert.doesNotMatch(subject, /\n/);
  assert.ok(subject.length < 300, `${subject.length}`);
  assert.ok(text.length < 10_000, `${text.length}`);
  assert.ok(html.length < 20_000, `${html.length}`);
});

test('a mail of an organization that keeps content on its devices has no content and no link', () => {
  const { subject, text, html } = questionMail({ ...asked, method: { ...method, contentOnDevices: true } }, NOW_MS);
  for (const part of [subject, text, html]) assert.doesNotMatch(part, /refund|ord_7f3|250|token/i);
  assert.match(text, /A question waits on run run_1 in Acme\./);
});

test('a mail of several questions has a link for each, and says if there are more', () => {
  const one = { method, question, link };
  const other = { method, question: { ...question, prompt: 'Ship it?' }, link: `${link}2` };
  const { subject, text, html } = digestMail(recipient, [one, other], true, 'https://methods.example', NOW_MS);
  assert.equal(subject, 'More than 2 questions in Acme wait for your answer');
  for (const part of ['ord_7f3', 'Ship it?', link, `${link}2`, 'https://methods.example', 'do not forward them'])
    assert.ok(text.includes(part) && html.includes(part), part);
  assert.equal(digestMail(recipient, [one], false, '', NOW_MS).subject, '1 question in Acme waits for your answer');
});

test('a cut text is never too long, and keeps whole characters', () => {
  assert.equal(line('  a\r\n\tb  ', 10), 'a b');
  assert.equal(line('😀😀😀😀', 3), '😀😀…');
  assert.equal(paragraph(' a\r\nb\tc\u200b ', 10), 'a\nb c');
});
