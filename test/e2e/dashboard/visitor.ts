// A person with a browser in front of a stack's dashboard.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { brokenRules } from '../../harness/axe.ts';
import { findChromium, type HeadlessBrowser } from '../../harness/headless-browser.ts';
import { openSharedBrowser } from '../../harness/shared-browser.ts';
import { type PersonOptions, sessionOf } from '../people.ts';
import type { Stack } from '../stack.ts';

const RULES_OF_COLORS = ['color-contrast', 'link-in-text-block'];
/** Null: this machine has no Chromium. */
const chromium = findChromium();
export const skip = chromium === null ? 'no Chromium on this machine' : false;

export async function visitor(): Promise<HeadlessBrowser> {
  if (chromium === null) throw new Error(String(skip));
  const browser = await openSharedBrowser(chromium);
  await browser.page.setViewportSize({ width: 1_440, height: 900 });
  return browser;
}

/** Has signed in already, in another way than by the pages. */
export async function signedInVisitor(stack: Stack, who: PersonOptions): Promise<HeadlessBrowser> {
  const browser = await visitor();
  await signInAs(stack, browser.page, who);
  return browser;
}

/** In place of who was signed in before. */
export async function signInAs(stack: Stack, page: Page, who: PersonOptions): Promise<void> {
  const value = await sessionOf(stack, who);
  const url = stack.ready.base_url;
  await page.context().clearCookies();
  await page.context().addCookies([{ name: 'workflow_session', value, url, httpOnly: true, sameSite: 'Lax' }]);
}

/** The address of a page of the stack's organization. */
export function pageOf({ ready }: Pick<Stack, 'ready'>, path: string): string {
  return `${ready.base_url}/o/${ready.org_id}${path}`;
}

/** What the browser refused or could not run. A refused call is none: pages show it. */
export function faults({ complaints }: HeadlessBrowser): string[] {
  return complaints.filter((text) => !text.startsWith('Failed to load resource'));
}

/** The rules of axe, light and dark. `what`: the state of the page, for the message. */
export async function keepsRules(page: Page, what: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    // Set by a script.
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
    // All others say the same in each scheme.
    const found = await brokenRules(page, colorScheme === 'dark' ? RULES_OF_COLORS : undefined);
    assert.deepEqual(found, [], `${what}, ${colorScheme}`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  assert.deepEqual(await page.evaluate(UNSEEN), [], `${what}: texts with characters that are not seen, or turn others`);
}

/** Texts of the page with control characters, or with marks that turn the direction of what follows. */
const UNSEEN = `(() => {
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.data;
    if (/[^\\P{Cc}\\n\\t]|[\\u202a-\\u202e\\u2066-\\u2069\\u200b\\ufeff]/u.test(text)) found.push(JSON.stringify(text.slice(0, 100)));
  }
  return found;
})()`;
