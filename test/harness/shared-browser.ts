// One Chromium for all tests of a process: a start of it costs two seconds of the processor. Each caller is another
// person, who shares no cookies, storage or cache with others.
import { after } from 'node:test';
import type { Browser } from 'playwright-core';
import { type HeadlessBrowser, launchChromium, personIn } from './headless-browser.ts';

let started: Promise<Browser> | undefined;

// Of the process: when the tests of all its files have ended.
after(async () => (await started?.catch(() => undefined))?.close());

/** `executablePath` as returned by findChromium. */
export async function openSharedBrowser(executablePath: string): Promise<HeadlessBrowser> {
  started ??= launchChromium(executablePath);
  const person = await personIn(await started);
  return { ...person, [Symbol.asyncDispose]: () => person.page.context().close() };
}
