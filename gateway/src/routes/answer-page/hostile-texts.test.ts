// Texts of others stay text on the answer page: with hostile texts, each page has the same elements and attributes as
// with plain ones.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceError } from '@methods/errors/service-error';
import { askedQuestion } from '../../testing/asked-question.fixture.ts';
import { PlayedBrowser } from '../../testing/played-browser.fixture.ts';
import type { AskedQuestion, GivenAnswer } from './asked-question.ts';
import { type PageContent, writePage } from './page-frame.ts';
import { type PageVisit, postedPage, shownPage } from './page-visit.ts';

const NOW_MS = Date.UTC(2026, 10, 23, 13, 31);
const HOSTILE = [
  '"><img src=x onerror=alert(1)>',
  "' autofocus onfocus=alert(1) x='",
  '</textarea></title></style></script><script>alert(1)</script>',
  '<!-- <svg/onload=alert(1)> --> <a href="javascript:alert(1)">x</a> &lt;b&gt; &#60;i&#62; \u202e\u2028\0',
].join(' ');

type Writes = (name: string) => string;
/** Of the same length, since the length of a text decides how it is shown. */
const plain: Writes = (name) => `${name} ${'-'.repeat(HOSTILE.length)}`;
const hostile: Writes = (name) => `${name} ${HOSTILE}`;

function question(write: Writes, changes: Partial<AskedQuestion> = {}): AskedQuestion {
  const named = write('field');
  const text = { type: 'string', title: write('title'), description: write('description') };
  const form = {
    type: 'object',
    required: ['decision'],
    properties: {
      decision: { enum: [write('yes'), write('no')] },
      [named]: text,
      long: { ...text, 'x-widget': 'textarea', default: write('default') },
      amount: { type: 'number', title: write('amount') },
      of_many: { enum: Array.from({ length: 20 }, (_, n) => write(`choice ${n}`)), default: write('choice 1') },
      some: { type: 'array', items: { enum: [write('a'), write('b')] }, default: [write('a')] },
      lines: { type: 'array', items: text, default: [write('line')] },
      rows: {
        type: 'array',
        items: { type: 'object', properties: { [named]: text } },
        default: [{ [named]: write('cell') }],
      },
      group: { type: 'object', title: write('group'), properties: { [named]: text } },
      other: { type: 'object', default: { [named]: write('json') } },
    },
  };
  const value = (of: unknown) => ({ path: write('path'), valueJson: JSON.stringify(of) });
  return askedQuestion({
    orgName: write('Acme'),
    methodName: write('approve-refund'),
    timeZone: write('Europe/Berlin'),
    step: write('approval'),
    prompt: write('prompt'),
    details: write('details'),
    show: [
      value(write('text')),
      value({ [named]: write('value') }),
      value([{ [named]: write('cell') }]),
      value([write('item'), { deep: [write('deep')] }]),
      { path: write('path'), valueJson: write('no JSON') },
      value(write('x'.repeat(1_200))),
      value(write('long '.repeat(60_000))),
    ],
    formJson: JSON.stringify(form),
    timeoutAnswerJson: JSON.stringify({ decision: write('yes'), [named]: write('late') }),
    needs: 2,
    votes: [given(write)],
    ...changes,
  });
}

function given(write: Writes, changes: Partial<GivenAnswer> = {}): GivenAnswer {
  const answerJson = JSON.stringify({ decision: write('yes'), [write('field')]: write('value') });
  return { by: write('Grace'), linkRecipient: '', atMs: NOW_MS, answerJson, comment: write('comment'), ...changes };
}

function visit(write: Writes, asked: AskedQuestion, changes: Partial<PageVisit> = {}): PageVisit {
  const name = write('ada@acme.example');
  return {
    question: asked,
    visitor: { name, linkRecipient: name, state: 'open' },
    secret: 'a'.repeat(43),
    signInPath: `/auth/login?return_to=${write('/q')}`,
    nowMs: NOW_MS,
    answer: async () => ({ ...asked, state: 'answered', receipt: given(write) }),
    delegate: async () => write('Grace'),
    again: async () => ({ ...asked, state: 'answered', receipt: given(write) }),
    ...changes,
  };
}

/** Presses the button with the form unchanged except for `fill`. */
async function after(
  at: PageVisit,
  button: string,
  fill: (page: PlayedBrowser) => PlayedBrowser,
): Promise<{ content: PageContent; page: PlayedBrowser }> {
  let content = shownPage(at, undefined);
  const page = await fill(
    new PlayedBrowser(content.main.text, async (posted) => {
      content = await postedPage(at, posted);
      return content.main.text;
    }),
  ).press(button);
  return { content, page };
}

const PAGES: Readonly<Record<string, (write: Writes) => PageContent | Promise<PageContent>>> = {
  'the form': (write) => shownPage(visit(write, question(write)), undefined),
  'a long value': (write) => shownPage(visit(write, question(write)), '6'),
  'the form with faults': async (write) => {
    const fill = (page: PlayedBrowser) =>
      page.type('/amount', typed(write)).type('/other', typed(write)).type('comment', typed(write));
    return (await after(visit(write, question(write)), 'Continue', fill)).content;
  },
  'another row': async (write) => {
    const fill = (page: PlayedBrowser) => page.type('/long', typed(write));
    return (await after(visit(write, question(write)), 'Add another', fill)).content;
  },
  'the answer to confirm': async (write) => (await confirmed(write)).content,
  'the answer that was sent': async (write) => (await sent(write, visit(write, question(write)))).content,
  'an answer that came second': async (write) => {
    const answer = () => Promise.reject(new ServiceError('question_changed'));
    return (await sent(write, visit(write, question(write), { answer }))).content;
  },
  'an answer that the run refuses': async (write) => {
    const findings = [{ path: '/decision', code: 'check_failed', message: write('is not polite') }] as const;
    const answer = () => Promise.reject(new ServiceError('invalid_answer', undefined, { findings }));
    return (await sent(write, visit(write, question(write), { answer }))).content;
  },
  'a question that was handed over': async (write) => {
    const fill = (page: PlayedBrowser) => page.type('to', typed(write));
    return (await after(visit(write, question(write)), 'Hand over', fill)).content;
  },
  'an answer of a person who may not': async (write) => {
    const answer = () => Promise.reject(new ServiceError('forbidden', write('You started this run.')));
    return (await sent(write, visit(write, question(write), { answer }))).content;
  },
  'an answered question': (write) => ended(write, { state: 'answered', receipt: given(write) }),
  'a question answered through a link': (write) =>
    ended(write, { state: 'answered', receipt: given(write, { linkRecipient: write('ada@acme.example') }) }),
  'a cancelled question': (write) => ended(write, { state: 'cancelled' }),
  'a closed question': (write) => ended(write, { state: 'expired', closedAtMs: NOW_MS }),
  'a link that has voted': (write) => {
    const name = write('ada@acme.example');
    const asked = question(write, { votes: [given(write, { linkRecipient: name })] });
    return shownPage(visit(write, asked, { visitor: { name, linkRecipient: name, state: 'used' } }), undefined);
  },
  'an expired link': (write) => {
    const name = write('ada@acme.example');
    const visitor = { name, linkRecipient: name, state: 'over' } as const;
    return shownPage(visit(write, question(write, { votes: [] }), { visitor }), undefined);
  },
  'content on devices': (write) => ended(write, { formJson: '' }),
};

function ended(write: Writes, changes: Partial<AskedQuestion>): PageContent {
  return shownPage(visit(write, question(write, changes)), undefined);
}

async function confirmed(write: Writes, at = visit(write, question(write))) {
  const fill = (page: PlayedBrowser) =>
    page
      .choose('/decision', shownText(write('yes')))
      .type('/long', typed(write))
      .type('comment', typed(write));
  return after(at, 'Continue', fill);
}

async function sent(write: Writes, at: PageVisit) {
  const { page } = await confirmed(write, at);
  let content: PageContent | null = null;
  await new PlayedBrowser(page.html, async (posted) => {
    content = await postedPage(at, posted);
    return content.main.text;
  }).press('Send answer');
  return { content: content ?? shownPage(at, undefined) };
}

/** A browser sends no NUL from a page. */
function typed(write: Writes): string {
  return write('typed').replaceAll('\0', '\ufffd');
}

/** Returns the text as the page shows it. */
function shownText(text: string): string {
  return text.replaceAll(/[\u202e\0]/g, '\ufffd');
}

/** Removes what controls send back unchanged. */
function readText(text: string): string {
  return text.replaceAll(/ (?:name|value)="[^"]*"|<textarea[^>]*>[^<]*/g, '');
}

/**
 * Returns elements with the names of their attributes, as a browser parses them: in a text area, a title, a style and a
 * script only the end tag counts.
 */
function skeleton(text: string): string[] {
  const found: string[] = [];
  const tag = /<(!--|[/!]?[a-z][^\s/>]*)((?:"[^"]*"|'[^']*'|[^>"'])*)>/gi;
  for (let each = tag.exec(text); each !== null; each = tag.exec(text)) {
    const name = (each[1] ?? '').toLowerCase();
    const attributes = [...(each[2] ?? '').matchAll(/([^\s=/"']+)(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"']+))?/g)];
    found.push(`${name} ${attributes.map(([, attribute]) => attribute).join(' ')}`.trimEnd());
    if (!['textarea', 'title', 'style', 'script'].includes(name)) continue;
    const end = text.toLowerCase().indexOf(`</${name}`, tag.lastIndex);
    ok(end >= 0, `${name} has no end`);
    tag.lastIndex = end;
  }
  return found;
}

for (const [name, make] of Object.entries(PAGES)) {
  test(`hostile texts add no element and no attribute to ${name}`, async () => {
    const [tame, attacked] = [writePage(await make(plain)), writePage(await make(hostile))];
    deepEqual(skeleton(attacked.text), skeleton(tame.text));
    equal(/[\u202e\0]/.exec(readText(attacked.text))?.index, undefined);
    const links = [...attacked.text.matchAll(/ href="([^"]*)"/g)].map(([, to = '']) => to);
    deepEqual(
      links.filter((to) => !/^(\?|#f\d|#comment|\/auth\/login)/.test(to)),
      [],
    );
    ok(attacked.text.includes('&lt;img src=x onerror=alert(1)&gt;'));
  });
}

test('the comparison detects a page without escapes', async () => {
  const { text } = writePage(await (PAGES['the form'] as (write: Writes) => PageContent)(hostile));
  const unescaped = text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"');
  ok(skeleton(unescaped).includes('img src onerror'));
  ok(skeleton(unescaped).includes('script'));
});
