// Runs a real browser without a window, the Chromium of this machine, for pages that only a browser can judge.
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** Generous, as in `until`: a busy machine starts a browser in half a minute. */
const WITHIN_MS = 180_000;

/** The path of an installed Chromium, or null. */
export function findChromium(): string | null {
  return PLACES.find((path) => existsSync(path)) ?? null;
}

/** A page, and more tabs of the same person. Keeps their requests and their errors from the beginning. */
export interface HeadlessBrowser extends AsyncDisposable {
  readonly page: Page;
  /** Opens another tab of the same person. */
  tab(): Promise<Page>;
  /** Requested addresses, without data URLs. */
  readonly requested: readonly string[];
  /** Errors of the console, blocked loads and uncaught exceptions. */
  readonly complaints: readonly string[];
}

/** `executablePath` as returned by findChromium. */
export async function openHeadlessBrowser(executablePath: string): Promise<HeadlessBrowser> {
  const browser = await launchChromium(executablePath);
  return { ...(await personIn(browser)), [Symbol.asyncDispose]: () => browser.close() };
}

export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    // The browser's own sandbox does not work for root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: ['--disable-gpu', '--disable-quic'],
    timeout: WITHIN_MS,
  });
}

/**
 * A person without cookies and storage, with a page. Nothing moves: a test that looks at a dialog while it appears would
 * see half of its contrast.
 */
export async function personIn(browser: Browser): Promise<Omit<HeadlessBrowser, typeof Symbol.asyncDispose>> {
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  context.setDefaultTimeout(WITHIN_MS);
  const requested: string[] = [];
  const complaints: string[] = [];
  context.on('request', (request) => {
    if (!request.url().startsWith('data:')) requested.push(request.url());
  });
  context.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`);
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  return {
    page: await context.newPage(),
    tab: () => context.newPage(),
    requested,
    complaints,
  };
}
