// A person with a browser in front of a stack's dashboard.
import { findChromium, type HeadlessBrowser } from '../../harness/headless-browser.ts';
import { openSharedBrowser } from '../../harness/shared-browser.ts';
import { type PersonOptions, sessionOf } from '../people.ts';
import type { Stack } from '../stack.ts';

/** Null: this machine has no Chromium. */
const chromium = findChromium();
export const skip = chromium === null ? 'no Chromium on this machine' : false;

export async function visitor(): Promise<HeadlessBrowser> {
  if (chromium === null) throw new Error(String(skip));
  return openSharedBrowser(chromium);
}

/** Has signed in already, in another way than by the pages. */
export async function signedInVisitor(stack: Stack, who: PersonOptions): Promise<HeadlessBrowser> {
  const browser = await visitor();
  const value = await sessionOf(stack, who);
  const url = stack.ready.base_url;
  await browser.page.context().addCookies([{ name: 'workflow_session', value, url, httpOnly: true, sameSite: 'Lax' }]);
  return browser;
}

/** What the browser refused or could not run. A refused call is none: pages show it. */
export function faults({ complaints }: HeadlessBrowser): string[] {
  return complaints.filter((text) => !text.startsWith('Failed to load resource'));
}
