// Every page on a stack that `npm run seed` has filled: it keeps the rules of axe in light and dark, fits a phone, breaks
// no rule of its policy, and asks for little while nothing happens.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import { nodeArguments } from '@methods/built-code/node-arguments';
import type { Page } from 'playwright-core';
import type { ApiClient } from '../e2e/api-client.ts';
import { person, sessionOf } from '../e2e/people.ts';
import { type Stack, startStack } from '../e2e/stack.ts';
import { findChromium, type HeadlessBrowser, openHeadlessBrowser } from '../harness/headless-browser.ts';
import { until } from '../harness/until.ts';

const ADA = { email: 'ada.pages@example.com', role: 'admin' } as const;
const SEED = nodeArguments(new URL('../../deploy/local/src/seed/main.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** With the words that each shows once its data is there. */
const PAGES: readonly (readonly [path: string, words: string | RegExp])[] = [
  ['/', 'Method and version'],
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

const chromium = findChromium();

describe('the pages of the dashboard', { skip: chromium === null && 'needs Chromium' }, () => {
  let stack: Stack;
  let browser: HeadlessBrowser;
  let page: Page;
  let ada: ApiClient;
  const at = (path: string) => `${stack.ready.base_url}/o/${stack.ready.org_id}${path}`;

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
    browser = await openHeadlessBrowser(chromium ?? '');
    page = browser.page;
    page.setDefaultTimeout(60_000);
    const value = await sessionOf(stack, ADA);
    await page.context().addCookies([{ name: 'workflow_session', value, url: stack.ready.base_url }]);
    ada = await person(stack, ADA);
  });
  after(async () => {
    await browser?.[Symbol.asyncDispose]();
    await stack?.stop();
  });

  for (const [path, words] of PAGES) {
    test(`${path} keeps the rules of axe, light and dark, and fits a phone`, async () => {
      await page.setViewportSize({ width: 1_440, height: 900 });
      await page.goto(at(path));
      await page.getByText(words).first().waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
        const found = violations.map(
          ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
        );
        assert.deepEqual(found, [], colorScheme);
      }
      await page.setViewportSize({ width: 390, height: 844 });
      await page.reload();
      await page.locator('h1').first().waitFor();
      const width = () => page.evaluate<number>('document.documentElement.scrollWidth');
      await until(`${path} fits a phone`, async () => (await width()) <= 390);
    });
  }

  test('many runs are cancelled at once, and the progress survives leaving the page', async () => {
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.goto(at('/?status=queued'));
    await page.getByLabel('Select all rows of the list').check();
    await page.getByRole('button', { name: 'Cancel…' }).click();
    const dialog = page.getByRole('dialog');
    const confirm = dialog.getByRole('button', { name: /Cancel [\d,]+ runs?/ });
    await confirm.waitFor();
    await confirm.click();
    await page.waitForURL(/\/bulk\/bulk_/);
    const bulk = page.url();
    await page.goto(at('/methods'));
    await page.goto(bulk);
    await page
      .getByText(/Done|done/)
      .first()
      .waitFor();
    const { items } = (await ada.request('GET', '/api/runs?status=queued&limit=5')).read<{ items: unknown[] }>();
    assert.deepEqual(items, []);
  });

  test('nothing that a page loads or does breaks its policy, and all requests go to its own server', () => {
    assert.deepEqual(browser.complaints, []);
    const others = browser.requested.filter((url) => !url.startsWith(stack.ready.base_url));
    assert.deepEqual(others, []);
  });
});
