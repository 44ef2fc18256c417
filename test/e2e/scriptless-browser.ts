// A person who follows links and answers on the pages they lead to, in a Chromium that runs no scripts.
import type { Page } from 'playwright-core';
import { findChromium, openHeadlessBrowser } from '../harness/headless-browser.ts';
import { until } from '../harness/until.ts';

const chromium = findChromium();
export const noBrowser = chromium === null ? 'no Chromium is installed on this machine' : false;

export interface ScriptlessBrowser extends AsyncDisposable {
  readonly page: Page;
}

export async function openScriptlessBrowser(): Promise<ScriptlessBrowser> {
  const browser = await openHeadlessBrowser(chromium ?? '');
  const context = await browser.page.context().browser()?.newContext({ javaScriptEnabled: false });
  if (context === undefined) throw new Error('the browser has ended');
  const page = await context.newPage();
  page.setDefaultTimeout(180_000);
  return { page, [Symbol.asyncDispose]: () => browser[Symbol.asyncDispose]() };
}

/** Opens the mail to this address about this question in a stack's mailbox, and follows its link. */
export async function followMailedLink(page: Page, mailUrl: string, address: string, question: string): Promise<void> {
  const mail = page.getByRole('listitem').filter({ hasText: question }).filter({ hasText: address });
  await until(`a mail to ${address} with ${question}`, async () => {
    await page.goto(mailUrl);
    return (await mail.count()) > 0;
  });
  await mail.getByRole('link').click();
  await page.locator('pre a[href*="/a/"]').click();
}

/** Chooses, checks what is shown, and sends it. */
export async function answerOnPage(page: Page, choice: string, comment = ''): Promise<void> {
  await page.getByRole('radio', { name: choice }).check();
  if (comment !== '') await page.getByLabel('Comment').fill(comment);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: `Check your answer: ${choice}` }).waitFor();
  await page.getByRole('button', { name: 'Send answer' }).click();
  await page.getByText(`Sent: ${choice}`).waitFor();
}
