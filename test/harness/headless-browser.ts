// A real browser without a window, for pages that only a browser can judge: the Chromium of this machine.
import { existsSync } from 'node:fs';
import { chromium, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** As `until`: a busy machine starts a browser in half a minute. */
const WITHIN_MS = 180_000;

/** Where a Chromium is installed; null where there is none. */
export function findChromium(): string | null {
  return PLACES.find((path) => existsSync(path)) ?? null;
}

/** One page. What it asks for and complains of is kept from the beginning. */
export interface HeadlessBrowser extends AsyncDisposable {
  readonly page: Page;
  /** Addresses asked for, without those of data. */
  readonly requested: readonly string[];
  /** Errors of the console, blocked loads and exceptions nobody caught. */
  readonly complaints: readonly string[];
}

/** `executablePath` as findChromium tells it. */
export async function openHeadlessBrowser(executablePath: string): Promise<HeadlessBrowser> {
  const browser = await chromium.launch({
    executablePath,
    // The browser's own sandbox does not work for root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: ['--disable-gpu', '--disable-quic'],
    timeout: WITHIN_MS,
  });
  const page = await browser.newPage();
  page.setDefaultTimeout(WITHIN_MS);
  const requested: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) requested.push(request.url());
  });
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return { page, requested, complaints, [Symbol.asyncDispose]: () => browser.close() };
}
