// Every page on a stack that `npm run seed` has filled: it keeps the rules of axe in light and dark, fits a phone, breaks
// no rule of its policy, and asks for little while nothing happens.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { nodeArguments } from '@methods/built-code/node-arguments';
import type { Page } from 'playwright-core';
import type { ApiClient } from '../e2e/api-client.ts';
import { keepsRules, pageOf, signedInVisitor, skip } from '../e2e/dashboard/visitor.ts';
import { person } from '../e2e/people.ts';
import { type Stack, startStack } from '../e2e/stack.ts';
import type { HeadlessBrowser } from '../harness/headless-browser.ts';
import { until } from '../harness/until.ts';
import { drawnByScrolling, scriptsBeforeRows } from './list-of-runs.fixture.ts';

const ADA = { email: 'ada.pages@example.com', role: 'admin' } as const;
const SEED = nodeArguments(new URL('../../deploy/local/src/seed/main.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** With the words that each shows once its data is there. */
const PAGES: readonly (readonly [path: string, words: string | RegExp])[] = [
  ['/', 'Method and version'],
  ['/?status=failed&group=cause', 'Message of the newest'],
  ['/inbox', 'Send answer'],
  ['/methods', 'Last published'],
  ['/methods/new', /example/i],
  ['/workers', 'No worker is connected'],
  ['/deliveries', 'Last try'],
  ['/usage', 'All runs are counted'],
  ['/settings', 'Keep run content on devices'],
  ['/settings?part=members', 'People join by signing in'],
  ['/settings?part=keys', 'nightly jobs'],
  ['/settings?part=endpoints', 'No endpoint yet'],
  ['/settings?part=audit', 'method.create'],
];

/** How many tables scroll sideways. */
const CUT =
  "[...document.querySelectorAll('table')].filter(({ parentElement: box }) => box.scrollWidth > box.clientWidth).length";

/** The server's comments come with the page's clock: a minute in which a page hears nothing is a dead stream. */
const COMMENTS_BY_CLOCK = `{
  const { fetch } = globalThis;
  globalThis.fetch = async (url, init) => {
    const reply = await fetch(url, init);
    if (!String(url).endsWith('/api/events')) return reply;
    const comment = new TextEncoder().encode(': still here\\n\\n');
    const comments = new TransformStream({
      start: (stream) => void setInterval(() => stream.enqueue(comment), 15_000),
    });
    return new Response(reply.body.pipeThrough(comments), reply);
  };
}`;

describe('the pages of the dashboard', { skip }, () => {
  let stack: Stack;
  let browser: HeadlessBrowser;
  let page: Page;
  let ada: ApiClient;
  const at = (path: string) => pageOf(stack, path);

  before(async () => {
    stack = await startStack('dashboard-pages', { args: ['--workers', '0', '--no-demo'] });
    const env = { ...process.env, XDG_STATE_HOME: join(dirname(stack.ready.data_dir), 'state') };
    const size = ['--runs', '600', '--methods', '10', '--questions', '12'];
    const seeded = spawnSync(process.execPath, [...SEED, '--data-dir', stack.ready.data_dir, ...size], {
      encoding: 'utf8',
      env,
      cwd: ROOT,
    });
    assert.equal(seeded.status, 0, seeded.stderr);
    browser = await signedInVisitor(stack, ADA);
    page = browser.page;
    ada = await person(stack, ADA);
  });
  after(async () => {
    await browser?.[Symbol.asyncDispose]();
    await stack?.stop();
  });

  for (const [path, words] of PAGES) {
    test(`${path} keeps the rules of axe, light and dark, and fits a laptop, a phone and a zoom of 200 %`, async () => {
      await page.setViewportSize({ width: 1_440, height: 900 });
      await page.goto(at(path));
      await page.getByText(words).first().waitFor();
      await keepsRules(page, path);
      await page.setViewportSize({ width: 1_280, height: 800 });
      await until(`${path} shows whole tables on a laptop`, async () => (await page.evaluate<number>(CUT)) === 0);
      await page.setViewportSize({ width: 390, height: 844 });
      await page.reload();
      await page.locator('h1').first().waitFor();
      const width = () => page.evaluate<number>('document.documentElement.scrollWidth');
      await until(`${path} fits a phone`, async () => (await width()) <= 390);
      // 1,440 by 900 at a zoom of 200 %.
      await page.setViewportSize({ width: 720, height: 450 });
      await until(`${path} fits when it is zoomed`, async () => (await width()) <= 720);
    });
  }

  test('an open page moves nothing where motion is not wanted, and asks for nearly nothing', async () => {
    // No other page passes events on: the clock jumps in all of them.
    await page.goto('about:blank');
    const tab = await browser.tab();
    await tab.emulateMedia({ reducedMotion: 'reduce' });
    await tab.clock.install();
    await tab.addInitScript(COMMENTS_BY_CLOCK);
    for (const path of ['/', '/inbox', '/methods', '/workers', '/deliveries', '/usage']) {
      await tab.goto(at(path));
      await tab.locator('h1').first().waitFor();
      await tab.waitForLoadState('load');
      // The menus come last.
      await tab.getByRole('button', { name: 'Ada Pages' }).waitFor();
      if (path === '/methods') {
        // It asks for the published versions once it has the methods. The row without a publisher is the head.
        const rows = tab.getByRole('row');
        await rows.filter({ hasText: / by / }).first().waitFor();
        await until(
          'each method has its publisher',
          async () => (await rows.filter({ hasNotText: / by / }).count()) === 1,
        );
      }
      const moving = () =>
        tab.evaluate<number>("document.getAnimations().filter((each) => each.playState === 'running').length");
      await until(`nothing moves on ${path}`, async () => (await moving()) === 0);
      const asked: string[] = [];
      tab.on('request', (request) => asked.push(request.url()));
      await tab.clock.runFor(60_000);
      // What the clock has set off is sent by now: the reply of a request that comes after it has arrived.
      await tab.evaluate("fetch('/.well-known/methods').then((reply) => reply.text())");
      const counted = asked.filter((url) => !/\/api\/events$|well-known/.test(url));
      assert.ok(counted.length <= 1, `${path}: ${counted.join(', ')}`);
      tab.removeAllListeners('request');
    }
    await tab.close();
  });

  test('the list needs less than 200 kB of scripts, and scrolling draws only the rows that come', async () => {
    await using fresh = await signedInVisitor(stack, ADA);
    await fresh.page.setViewportSize({ width: 1_440, height: 900 });
    // Of ended runs: nothing in their rows grows.
    await fresh.page.goto(at('/?status=succeeded'));
    await fresh.page.getByRole('grid', { name: 'Runs' }).getByRole('row').nth(20).waitFor();
    await fresh.page.getByRole('search', { name: 'Filter the runs' }).waitFor();
    const { bytes, files } = await scriptsBeforeRows(fresh.page);
    assert.ok(files > 1 && bytes > 50_000 && bytes < 200_000, `${bytes} bytes in ${files} files`);
    // The first page has 100: nothing is loaded meanwhile.
    const drawn = await drawnByScrolling(fresh.page, 30);
    assert.ok(drawn.added >= 10 && drawn.added <= 35, `${drawn.added} rows were added`);
    assert.deepEqual(drawn.changed, [], 'a row is drawn once');
  });

  test('a copied link to runs of the last hour has a fixed time', async () => {
    await using fresh = await signedInVisitor(stack, ADA);
    await fresh.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await fresh.page.goto(at('/?status=failed&last=1h'));
    const begunMs = Date.now();
    await fresh.page.getByRole('button', { name: 'Copy a link to these runs' }).click();
    await fresh.page.getByText('Copied').waitFor();
    const link = new URL(await fresh.page.evaluate<string>('navigator.clipboard.readText()'));
    const { status, last, created_after: after = '' } = Object.fromEntries(link.searchParams);
    assert.deepEqual([link.pathname, status, last], [new URL(at('')).pathname, 'failed', undefined]);
    assert.ok(Math.abs(begunMs - 3_600_000 - Date.parse(after)) < 60_000, after);
  });

  test('failed runs are grouped by their cause, and the runs of a cause are run again', async () => {
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.goto(at('/'));
    await page.getByRole('button', { name: 'Group by cause' }).click();
    const causes = page.getByRole('grid', { name: 'Causes' });
    const first = causes.getByRole('row').nth(1);
    const count = Number(await first.getByRole('gridcell').nth(1).textContent());
    const { items } = (await ada.request('GET', '/api/runs?status=failed&limit=200')).read<{ items: unknown[] }>();
    assert.ok(count > 1 && count < items.length, `${count} of ${items.length}`);
    await page.getByText(`All ${items.length} failed runs that match are grouped.`).waitFor();
    await first.getByRole('checkbox').check();
    await page.getByText(`${count} selected`).waitFor();
    await page.getByRole('button', { name: 'Rerun…' }).click();
    await page.getByRole('menuitem', { name: 'From the start' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: `Rerun ${count} runs`, exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await first.getByRole('link').click();
    await page.waitForURL(/\/runs\/run_/);
    await page.getByText('Failed').first().waitFor();
  });

  test('5,000 runs are cancelled at once, and the progress survives leaving the page', async () => {
    await page.setViewportSize({ width: 1_440, height: 900 });
    const runs = Array.from({ length: 1_000 }, () => ({ method: stack.method('greet'), inputs: { name: 'Ada' } }));
    for (let n = 0; n < 5; n++) {
      const { status } = await stack.api.request('POST', '/v1/runs/batch', { body: { runs } });
      assert.ok(status < 300, String(status));
    }
    await page.goto(at('/?status=queued'));
    await page.getByLabel('Select all rows of the list').check();
    await page.getByRole('button', { name: 'Select all matching' }).click();
    await page.getByRole('button', { name: 'Cancel…' }).click();
    const dialog = page.getByRole('dialog');
    const confirm = dialog.getByRole('button', { name: /Cancel 5,\d{3} runs/ });
    await confirm.waitFor();
    await confirm.click();
    await page.waitForURL(/\/bulk\/bulk_/);
    const bulk = page.url();
    await page.goto(at('/methods'));
    await page.goto(bulk);
    await page.getByText('Done.', { exact: true }).waitFor();
    const { items } = (await ada.request('GET', '/api/runs?status=queued&limit=5')).read<{ items: unknown[] }>();
    assert.deepEqual(items, []);
  });

  test('nothing that a page loads or does breaks its policy, and all requests go to its own server', () => {
    assert.deepEqual(browser.complaints, []);
    const others = browser.requested.filter((url) => !url.startsWith(stack.ready.base_url));
    assert.deepEqual(others, []);
  });
});
