// What an open page does when something leaves: the server, a worker, the person's session.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type StackDesk, stackDesk } from '../cli/stack-desk.ts';
import { StartedWorker } from '../cli/started-worker.ts';
import { keepsRules, pageOf, signedInVisitor, signInAs, skip } from '../e2e/dashboard/visitor.ts';
import type { Stack } from '../e2e/stack.ts';
import type { HeadlessBrowser } from '../harness/headless-browser.ts';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';

const ADA = { email: 'ada.away@example.com', role: 'admin' } as const;

describe('an open page', { skip }, () => {
  let stack: Stack;
  let desk: StackDesk;
  let browser: HeadlessBrowser;
  let page: Page;
  const at = (path: string) => pageOf(stack, path);
  const started = async () => {
    const body = { method: stack.method('greet'), inputs: { name: 'Ada' } };
    return (await until('the server answers', () => stack.api.startSettled(body).catch(() => null))).run_id;
  };
  /** The list was read again; or the run came by the stream, and the page offers it. */
  const hasRun = (runId: string, tab = page) =>
    until('the page has the run', async () => {
      const offered = tab.getByRole('button', { name: /^\d+ new run/ });
      if (await offered.isVisible()) await offered.click();
      return row(runId, tab).isVisible();
    });
  const row = (runId: string, tab = page) => tab.getByRole('row').filter({ hasText: runId.slice(-8) });

  before(async () => {
    stack = await commonStack();
    desk = await stackDesk(stack);
    browser = await signedInVisitor(stack, ADA);
    page = browser.page;
    page.setDefaultTimeout(60_000);
  });
  after(async () => {
    await browser?.[Symbol.asyncDispose]();
    await desk?.folder.remove();
  });

  test('follows again by itself after its gateway was killed', async () => {
    const first = await started();
    await page.goto(at('/'));
    await row(first).waitFor();
    const { pid } = stack.ready.processes.find(({ name }) => name === 'gateway-1') ?? { pid: 0 };
    process.kill(pid, 'SIGKILL');
    const second = await started();
    await hasRun(second);
    assert.equal(await page.getByRole('alert').count(), 0);
  });

  test('shows what happened after it was loaded and before its events began', async () => {
    await using other = await signedInVisitor(stack, ADA);
    const tab = other.page;
    const first = await started();
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    await tab.route('**/api/events', (route) => begun.then(() => route.continue()));
    await tab.goto(at('/'));
    await row(first, tab).waitFor();
    const second = await started();
    begin();
    await hasRun(second, tab);
  });

  test('loads a part that was asked for without a network as soon as there is one', async () => {
    const links = page.getByRole('navigation', { name: 'Pages' });
    await page.goto(at('/inbox'));
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    const context = page.context();
    await context.setOffline(true);
    const failed = page.waitForEvent('requestfailed', (request) => request.url().includes('/assets/usage-page'));
    await links.getByRole('link', { name: 'Usage' }).click();
    await failed;
    // A few tries more.
    for (let tries = 0; tries < 3; tries++) await page.waitForEvent('requestfailed');
    assert.equal(await page.getByRole('alert').count(), 0);
    await context.setOffline(false);
    await page.getByRole('heading', { name: 'Usage' }).waitFor();
  });

  test('says that the server does not reply, and loads when it does', async () => {
    const tab = await browser.tab();
    await tab.clock.install();
    // Accepted, and never replied to.
    await tab.route('**/api/usage*', () => {});
    await tab.goto(at('/usage'));
    await tab.getByRole('heading', { name: 'Usage' }).waitFor();
    const failed = tab.getByRole('alert').getByText('The server did not reply in time.');
    await until('the page gives up', async () => {
      await tab.clock.runFor(10_000);
      return failed.isVisible();
    });
    await tab.unroute('**/api/usage*');
    await tab.route('**/api/usage*', (route) =>
      route.fulfill({ contentType: 'application/json', body: '{"items": [' }),
    );
    await tab.getByRole('button', { name: 'Try again' }).click();
    const cut = tab.getByRole('alert').getByText('The reply cannot be read');
    await until('it is tried again', async () => {
      await tab.clock.runFor(1_000);
      return cut.isVisible();
    });
    await tab.unroute('**/api/usage*');
    await tab.getByRole('button', { name: 'Try again' }).click();
    await tab.getByText('All runs are counted').waitFor();
    await tab.close();
  });

  test('asks for its events again where the server accepts the connection and is silent', async () => {
    await using other = await signedInVisitor(stack, ADA);
    const tab = other.page;
    await tab.clock.install();
    let asked = 0;
    await tab.route('**/api/events', (route) => (asked++ === 0 ? undefined : route.continue()));
    await tab.goto(at('/'));
    await until('the events are asked for', () => asked === 1);
    await until('they are asked for again', async () => {
      await tab.clock.runFor(10_000);
      return asked === 2;
    });
    const runId = await started();
    await until('the page has the run', async () => {
      await tab.clock.runFor(1_000);
      return (await tab.getByRole('button', { name: /^\d+ new run/ }).isVisible()) || row(runId, tab).isVisible();
    });
  });

  test('offers to reload where the server no longer has a part', async () => {
    await page.goto(at('/inbox'));
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    let asked = 0;
    await page.route('**/assets/workers-page*.js', (route) => {
      asked++;
      return route.fulfill({ status: 404 });
    });
    const links = page.getByRole('navigation', { name: 'Pages' });
    await links.getByRole('link', { name: 'Workers' }).click();
    await page.getByRole('heading', { name: 'The dashboard was updated' }).waitFor();
    await keepsRules(page, 'a missing part');
    // A gateway of the next release may have been asked, and the page reloads itself once.
    assert.equal(asked, 6);
    await page.unroute('**/assets/workers-page*.js');
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { name: 'Workers' }).waitFor();
  });

  test('shows that a worker has disappeared, and the run that it lost continues', async () => {
    const worker = new StartedWorker(desk, '--method', stack.method('greet'));
    try {
      await worker.says('it is ready', ({ event }) => event === 'ready');
      await page.goto(at('/workers'));
      await page.getByText('2 workers are connected.').waitFor();
    } finally {
      worker.signal('SIGKILL');
      await worker.exited;
    }
    // The page asks when runs change, which they do while anyone works.
    await until('one worker is left', async () => {
      await started();
      return page.getByText('1 worker is connected.').isVisible();
    });
  });

  test('leads back to itself when its session has ended', async () => {
    await page.goto(at('/methods'));
    await page.getByRole('link', { name: 'Approve a refund' }).waitFor();
    const cookies = await page.context().cookies();
    await page.context().clearCookies();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Inbox' }).click();
    await page.getByRole('heading', { name: /session has ended|Sign in/ }).waitFor();
    await keepsRules(page, 'an ended session');
    const href = (await page.getByRole('link', { name: 'Sign in' }).getAttribute('href')) ?? '';
    assert.equal(new URL(href, page.url()).searchParams.get('return_to'), `/o/${stack.ready.org_id}/inbox`);
    assert.ok(cookies.length > 0);
    await signInAs(stack, page, ADA);
    await page.reload();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  });
});
