import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatMessage } from './chat-message.ts';

const NOW_MS = Date.parse('2026-11-24T10:00:00.000Z');
const CONTEXT = { methodName: 'approve-refund', timeZone: 'Europe/Vienna', contentOnDevices: false };
const LINK = 'https://methods.example/a/x?y=<z>';
const HOSTILE = '<!channel> <https://evil.example|click> & *bold* _it_ `code` [a](https://evil.example) \u202e\u0007';

function bodyOf(more: object): Buffer {
  const facts = { event: 'needs_input', delivery_id: 'dlv_1', run_id: 'run_1', status: 'waiting', method: 'wf_1' };
  return Buffer.from(JSON.stringify({ ...facts, ...more }));
}

function question(more: object = {}) {
  const show = [{ path: 'inputs.total', value: { amount: 12, note: HOSTILE } }];
  return { step: 'approve', prompt: 'Approve?', show, deadline_at: '2026-11-25T10:00:00.000Z', ...more };
}

function message(format: 'slack' | 'teams', more: object, link: string | null = LINK, context = CONTEXT) {
  return JSON.parse(chatMessage({ body: bodyOf(more) }, format, context, link, NOW_MS).body.toString());
}

const texts = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(texts);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'text' && typeof inner === 'string' ? [inner] : texts(inner),
  );
};

test('Slack gets blocks with the question, its values, its deadline and a button', () => {
  const { blocks, text } = message('slack', { question: question() });
  assert.equal(text, 'A question waits for an answer: Approve?');
  assert.deepEqual(
    blocks.map(({ type }: { type: string }) => type),
    ['section', 'section', 'section', 'actions'],
  );
  assert.equal(blocks[3].elements[0].url, LINK);
  assert.ok(texts(blocks).includes('*Method*\napprove-refund'));
  const deadline = texts(blocks).find((text) => text.startsWith('*Answer by*'));
  assert.match(String(deadline), /\nWed 25 Nov, 11:00 (CET|GMT\+1) \(10:00 UTC\)$/);
});

test('Teams gets an adaptive card with the same, and the button opens the answer page', () => {
  const { type, attachments } = message('teams', { question: question() });
  assert.equal(type, 'message');
  assert.equal(attachments[0].contentType, 'application/vnd.microsoft.card.adaptive');
  const { body, actions } = attachments[0].content;
  assert.deepEqual(actions, [{ type: 'Action.OpenUrl', title: 'Answer', url: LINK }]);
  assert.ok(texts(body).includes('Approve?'));
  assert.ok(
    body.every((each: { type: string }) => each.type === 'RichTextBlock'),
    'no text that knows Markdown',
  );
});

test('caller text never becomes a mention, a link or formatting in Slack', () => {
  const { blocks, text } = message('slack', {
    question: question({ prompt: HOSTILE, details: HOSTILE, step: HOSTILE }),
  });
  const all = texts(blocks);
  assert.ok(all.length > 5);
  for (const one of [text, ...all]) {
    for (const sign of '<>\u202e\u0007') assert.ok(!one.includes(sign));
    assert.doesNotMatch(one, /&(?!amp;|lt;|gt;)/);
  }
  for (const one of all.slice(1, 3)) assert.doesNotMatch(one, /(?<!\u200b)[*_~`]/);
  assert.ok(
    blocks
      .flatMap((block: { text?: object; fields?: object[] }) => block.fields ?? block.text ?? [])
      .every(({ verbatim }: { verbatim?: boolean }) => verbatim === true),
  );
});

test('the longest texts stay below the limits of the chats', () => {
  const long = '💥&'.repeat(3_000);
  const show = Array.from({ length: 20 }, () => ({ path: long, value: { long } }));
  const more = { method: long, question: question({ prompt: long, details: long, step: long, show }) };
  const { blocks } = message('slack', more);
  assert.ok(blocks.length <= 50);
  for (const block of blocks) assert.ok((block.fields ?? []).length <= 10);
  for (const one of texts(blocks)) assert.ok(one.length <= 2_000 || !one.startsWith('*'), String(one.length));
  for (const one of texts(blocks)) assert.ok(one.length <= 3_000 && !one.endsWith('&am'), String(one.length));
  for (const format of ['slack', 'teams'] as const) {
    const bytes = chatMessage({ body: bodyOf(more) }, format, { ...CONTEXT, methodName: long }, LINK, NOW_MS).body
      .length;
    assert.ok(bytes < 28_000, `${format}: ${bytes} bytes`);
  }
});

test('a value of many thousand levels, which some engines cannot write again, keeps no message from its chat', () => {
  const show = `[{"path":"inputs.tree","value":${'['.repeat(50_000)}${']'.repeat(50_000)}}]`;
  const body = bodyOf({ question: question({ show: 'SHOW' }) })
    .toString()
    .replace('"SHOW"', show);
  const { body: sent } = chatMessage({ body: Buffer.from(body) }, 'slack', CONTEXT, LINK, NOW_MS);
  assert.match(sent.toString(), /inputs\.tree/);
});

test('an end has no button, a failure gives its reason, and a question without a page has no button either', () => {
  const failed = message('slack', { event: 'failed', error: { code: 'step_failed', message: 'It broke', step: 'a' } });
  assert.ok(texts(failed.blocks).includes('It broke'));
  assert.ok(failed.blocks.every(({ type }: { type: string }) => type !== 'actions'));
  assert.ok(
    message('slack', { question: question() }, null).blocks.every(({ type }: { type: string }) => type !== 'actions'),
  );
  assert.deepEqual(
    message('teams', { event: 'succeeded', result: { secret: 'r' } }).attachments[0].content.actions,
    [],
  );
  assert.doesNotMatch(
    JSON.stringify(message('slack', { event: 'succeeded', result: { secret: 'value-7' } })),
    /value-7/,
  );
});

test('an event without its content still becomes a message', () => {
  const light = { step: 'approve', prompt: 'Approve?', deadline_at: null };
  for (const format of ['slack', 'teams'] as const) {
    assert.ok(JSON.stringify(message(format, { content_left_out: true, question: light })).includes('Approve?'));
  }
});

test('ids in a message for Slack can be copied from it', () => {
  const { blocks } = message('slack', { run_id: 'run_0101m84efewadrrvy9tcmfs7x8', question: question() });
  assert.ok(texts(blocks).includes('*Run*\nrun_0101m84efewadrrvy9tcmfs7x8'));
});

test('a method that is gone is named by its id', () => {
  const { blocks } = message('slack', { question: question() }, LINK, { ...CONTEXT, methodName: '' });
  assert.ok(texts(blocks).includes('*Method*\nwf_1'));
});

test('a chat gets no content of an organization that keeps it on devices', () => {
  const onDevices = { ...CONTEXT, contentOnDevices: true };
  const secret = 'value-7';
  const asked = question({ prompt: secret, details: secret, show: [{ path: secret, value: secret }] });
  for (const format of ['slack', 'teams'] as const) {
    const sent = JSON.stringify(message(format, { question: asked, error: { message: secret } }, LINK, onDevices));
    assert.doesNotMatch(sent, /value-7/);
    assert.match(sent, /approve/);
  }
});

test('a chat gets nothing of a run in device mode but that a question waits on it', () => {
  for (const format of ['slack', 'teams'] as const) {
    const shown = JSON.stringify(message(format, { question: question(), on_device: true }, null));
    for (const hidden of ['Approve?', 'inputs.total', HOSTILE.slice(0, 12)]) assert.ok(!shown.includes(hidden), hidden);
    assert.ok(shown.includes('A question waits') && shown.includes('run_1'));
  }
});
