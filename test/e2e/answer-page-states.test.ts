// Every state of the answer page in a real browser, light and dark, as wide as a window of 640 px at twice the size: axe
// finds nothing, nothing scrolls sideways, and each control is reached by the keyboard.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ServiceError } from '@methods/errors/service-error';
import { plainPage } from '@methods/gateway/routes/answer-page/end-pages';
import { type PageContent, writePage } from '@methods/gateway/routes/answer-page/page-frame';
import { askedQuestion, EVERY_CONTROL, RECIPIENT } from '@methods/gateway/testing/asked-question.fixture';
import { APPROVED, NOW_MS, Visitor } from '@methods/gateway/testing/page-visitor.fixture';
import { brokenRules } from '../harness/axe.ts';
import { findChromium, type HeadlessBrowser, openHeadlessBrowser } from '../harness/headless-browser.ts';

const chromium = findChromium();
const skip = chromium === null ? 'no Chromium is installed on this machine' : false;
const every = askedQuestion({ formJson: JSON.stringify(EVERY_CONTROL), needs: 2, votes: [APPROVED] });
/** These have all colours. */
const DARK = ['every control with faults', 'sent', 'answered'];
const FOCUSED =
  'document.activeElement === document.body ? null : document.activeElement.name ?? document.activeElement.id';
const approved = { ...APPROVED, linkRecipient: RECIPIENT.name, comment: 'As agreed.' };
let browser: HeadlessBrowser;

before(async () => {
  if (chromium === null) return;
  browser = await openHeadlessBrowser(chromium);
  await browser.page.setViewportSize({ width: 320, height: 640 });
});
after(() => browser?.[Symbol.asyncDispose]());

/** The page after these buttons; of a form that is not every control, with Approve chosen. */
async function pressed(visitor: Visitor, ...buttons: readonly string[]): Promise<PageContent> {
  let page = visitor.look();
  if (visitor.question !== every) page.choose('/decision', 'Approve');
  for (const button of buttons) page = await page.press(button);
  assert.ok(visitor.last);
  return visitor.last;
}

async function pages(): Promise<Record<string, PageContent>> {
  const shown = (...given: ConstructorParameters<typeof Visitor>) => new Visitor(...given).page;
  const raced = new Visitor(askedQuestion());
  raced.refusal = new ServiceError('run_not_waiting');
  raced.later = askedQuestion({ state: 'answered', receipt: APPROVED });
  const refused = new Visitor(askedQuestion());
  refused.refusal = new ServiceError('unavailable');
  const stranger = new Visitor(askedQuestion());
  stranger.refusal = new ServiceError('invalid_request', 'is no one');
  return {
    'every control': shown(every),
    'every control with faults': await pressed(new Visitor(every), 'Continue'),
    'another row': await pressed(new Visitor(every), 'Add another'),
    'a form to read': shown(askedQuestion({ formJson: '{"type":"object","properties":{}}' })),
    'to confirm': await pressed(new Visitor(askedQuestion()), 'Continue'),
    'not sent': await pressed(refused, 'Continue', 'Send answer'),
    raced: await pressed(raced, 'Continue', 'Send answer'),
    'handed to no one': await pressed(stranger, 'Hand over'),
    sent: await pressed(new Visitor(askedQuestion()), 'Continue', 'Send answer'),
    answered: shown(askedQuestion({ state: 'answered', receipt: approved })),
    expired: shown(askedQuestion({ state: 'expired', closedAtMs: NOW_MS })),
    cancelled: shown(askedQuestion({ state: 'cancelled' })),
    'over, with a sign-in': shown(askedQuestion(), { visitor: { ...RECIPIENT, state: 'over' } }),
    'not an answerer': shown(askedQuestion({ refusal: 'starter' })),
    'on devices': shown(askedQuestion({ formJson: '', prompt: '', show: [] })),
    unknown: plainPage(404, 'There is no such link', 'It may be cut off. Copy it whole from the message.'),
  };
}

test('every state is accessible, light and dark, and wraps in a narrow window', { skip }, async () => {
  const { page } = browser;
  for (const [state, content] of Object.entries(await pages())) {
    await page.setContent(writePage(content).text);
    for (const colorScheme of DARK.includes(state) ? (['light', 'dark'] as const) : (['light'] as const)) {
      await page.emulateMedia({ colorScheme });
      // Only colours differ.
      const found = await brokenRules(page, colorScheme === 'dark' ? ['color-contrast'] : undefined);
      assert.deepEqual(found, [], `${state}, ${colorScheme}`);
    }
    const { scrollWidth, clientWidth } = await page
      .locator('html')
      .evaluate((html) => ({ scrollWidth: html.scrollWidth, clientWidth: html.clientWidth }));
    assert.ok(scrollWidth <= clientWidth, `${state} scrolls sideways`);
  }
});

test('the keyboard reaches every control of a form, in the order of the page, and leaves each', { skip }, async () => {
  const { page } = browser;
  await page.setContent(writePage(new Visitor(every).page).text);
  const controls = 'summary, input:not([type=hidden]), select, textarea, button:not([tabindex="-1"]), a[href]';
  const expected = await page.locator(controls).evaluateAll((found) => {
    const shown = found.filter((each) => each.checkVisibility());
    const names = shown.map((each) => each.getAttribute('name') ?? each.id);
    // The radio buttons of one choice are one stop.
    return names.filter((name, at) => name === '' || names.indexOf(name) === at);
  });
  const reached = new Set<string>();
  for (let n = 0; n < 200; n++) {
    await page.keyboard.press('Tab');
    // A part of a date has the focus inside of its control.
    const focused = await page.evaluate<string | null>(FOCUSED);
    if (focused === null) break;
    reached.add(focused);
  }
  assert.deepEqual([...reached], [...new Set(expected)]);
});
