// Stories of the dashboard in a real browser on a running stack: a method is saved and published; a run's question is
// answered in the Inbox; a bad version is rolled back; two editors are in each other's way. Pages keep the rules of axe.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import type { ApiClient } from '../e2e/api-client.ts';
import { person, sessionOf } from '../e2e/people.ts';
import { type Stack, startStack } from '../e2e/stack.ts';
import { findChromium, type HeadlessBrowser, openHeadlessBrowser } from '../harness/headless-browser.ts';
import { until } from '../harness/until.ts';

const ADA = { email: 'ada.story@example.com', role: 'admin' } as const;
const GRACE = { email: 'grace.story@example.com', role: 'member' } as const;
const SOURCE = `format: method/2
name: story-refund
inputs:
  amount: number 0..500 -- In EUR
steps:
  - name: approval
    ask: Refund \${inputs.amount} EUR to <b>ord_7f3</b>?
    out:
      decision: [approve, reject]
      note?: text ..500
result: { decision: =steps.approval.decision }
`;

const chromium = findChromium();

describe('a person at the dashboard', { skip: chromium === null && 'needs Chromium' }, () => {
  let stack: Stack;
  let browser: HeadlessBrowser;
  let page: Page;
  let grace: ApiClient;
  let methodId: string;
  const at = (path: string) => `${stack.ready.base_url}/o/${stack.ready.org_id}${path}`;

  before(async () => {
    stack = await startStack('dashboard-stories', { args: ['--workers', '1'] });
    browser = await openHeadlessBrowser(chromium ?? '');
    page = browser.page;
    await page.setViewportSize({ width: 1_440, height: 900 });
    const value = await sessionOf(stack, ADA);
    await page.context().addCookies([{ name: 'workflow_session', value, url: stack.ready.base_url }]);
    grace = await person(stack, GRACE);
  });
  after(async () => {
    await browser?.[Symbol.asyncDispose]();
    await stack?.stop();
  });

  async function keepsRules(name: string): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
      const found = violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
      );
      assert.deepEqual(found, [], `${name}, ${colorScheme}`);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  }

  test('saves a method and publishes it', async () => {
    await page.goto(at('/methods/new?from=paste'));
    await page.locator('.cm-content').fill(SOURCE);
    await page.getByText('The validator finds nothing.').waitFor();
    await keepsRules('new method');
    await page.getByRole('button', { name: 'Save the method' }).click();
    await page.waitForURL(/\/methods\/[a-z0-9]+\/versions/);
    methodId = /methods\/([a-z0-9]+)/.exec(page.url())?.[1] ?? '';
    await keepsRules('versions');
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Published', { exact: true }).waitFor();

    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Start a run' }).waitFor();
    assert.equal(await page.locator('nav[aria-label="Parts of the method"] a[aria-current]').count(), 1);
  });

  test('starts a run by the form of its inputs, and answers its question in the Inbox by keys', async () => {
    await page.goto(at(`/methods/${stack.method('approve').replace('wf_', '')}`));
    await page.getByLabel('Order id').fill('ord_7f3');
    await page.getByLabel('Amount').fill('250');
    await keepsRules('overview');
    await page.getByRole('button', { name: 'Start a run' }).click();
    await page.waitForURL(/\/runs\/run_/);
    const runId = /run_[a-z0-9]+/.exec(page.url())?.[0] ?? '';

    await page.goto(at('/inbox'));
    await page.getByRole('heading', { name: 'Refund 250 EUR to ord_7f3@example.com?' }).waitFor();
    await keepsRules('inbox');
    await page.getByRole('link', { name: /Refund 250 EUR/ }).focus();
    await page.keyboard.press('Control+Enter');
    await page.getByText('Choose one for Decision.').waitFor();
    await page.keyboard.press('1');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Sent: Approve').waitFor();
    const run = await until('the run has its result', async () => {
      const { body } = await readRun(runId);
      return body.status === 'succeeded' && body;
    });
    assert.equal((run.result as { refunded: boolean }).refunded, true);
    assert.deepEqual(
      run.answers?.map(({ channel }) => channel),
      ['inbox'],
    );
  });

  async function readRun(runId: string) {
    const reply = await grace.request('GET', `/api/runs/${runId}`);
    return { body: reply.read<{ status: string; result?: unknown; answers?: { channel: string }[] }>() };
  }

  const saved = async (source: string, base: string, reason: string) => {
    const body = { source, base_version: base, reason };
    const reply = await grace.request('POST', `/api/methods/${methodId}/versions`, { body });
    return reply.read<{ version_id: string }>().version_id;
  };
  const method = async () =>
    (await grace.request('GET', `/api/methods/${methodId}`)).read<{
      current_version: string;
      published_version: string;
    }>();

  test('rolls back after a bad version was published', async () => {
    const good = (await method()).published_version;
    const bad = await saved(SOURCE.replace('..500 --', '..1 --'), good, 'Only small amounts');
    await grace.request('POST', `/api/methods/${methodId}/publish`, { body: { version_id: bad } });
    await page.goto(at(`/methods/${methodId}/versions`));
    await page.locator('ol').getByText('Only small amounts').waitFor();
    await page.getByRole('button', { name: 'Compare with the published one' }).click();
    await page.locator('.cm-mergeView').waitFor();
    await keepsRules('compared versions');
    await page.getByRole('button', { name: 'Roll back to it' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByText(/Rolled back to/).waitFor();
    assert.equal((await method()).published_version, good);
  });

  test('merges the text of another person who saved in between', async () => {
    await page.goto(at(`/methods/${methodId}/source`));
    await page.locator('.cm-content').waitFor();
    const base = (await method()).current_version;
    const theirs = await saved(`${SOURCE}# theirs\n`, base, 'Their change');
    await page.locator('.cm-content').fill(`${SOURCE}# mine\n`);
    await page.getByRole('button', { name: 'Save as new version' }).click();
    await page.getByLabel('Why').fill('My change');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText(/saved another version/).waitFor();
    await keepsRules('conflict');
    await page.getByRole('button', { name: 'Save the merged text' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText(/Saved as/).waitFor();
    const { current_version } = await method();
    assert.notEqual(current_version, theirs);
    const { source } = (await grace.request('GET', `/api/methods/${methodId}/versions/${current_version}`)).read<{
      source: string;
    }>();
    assert.equal(source, `${SOURCE}# mine\n`);
  });

  test('sees the list of methods with its search', async () => {
    await page.goto(at('/methods?q=story'));
    await page.getByRole('link', { name: 'story-refund' }).waitFor();
    await keepsRules('methods');
  });

  test('has had no blocked script, style or request', () => {
    assert.deepEqual(
      browser.complaints.filter((text) => !/version_conflict|409/.test(text)),
      [],
    );
    assert.deepEqual(
      browser.requested.filter((url) => !url.startsWith(stack.ready.base_url)),
      [],
    );
  });
});
