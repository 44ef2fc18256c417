// Stories of the dashboard in a real browser on a running stack: a method is saved and published, and two editors are in
// each other's way. Pages keep the rules of axe, light and dark.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { ApiClient } from '../e2e/api-client.ts';
import { keepsRules, pageOf, signedInVisitor, skip } from '../e2e/dashboard/visitor.ts';
import { person } from '../e2e/people.ts';
import type { Stack } from '../e2e/stack.ts';
import type { HeadlessBrowser } from '../harness/headless-browser.ts';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';

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

describe('a person at the dashboard', { skip }, () => {
  let stack: Stack;
  let browser: HeadlessBrowser;
  let page: Page;
  let grace: ApiClient;
  let methodId: string;
  const at = (path: string) => pageOf(stack, path);

  before(async () => {
    stack = await commonStack();
    browser = await signedInVisitor(stack, ADA);
    page = browser.page;
    grace = await person(stack, GRACE);
  });
  after(() => browser?.[Symbol.asyncDispose]());

  test('saves a method and publishes it', async () => {
    await page.goto(at('/methods/new?from=paste'));
    await page.locator('.cm-content').fill(SOURCE);
    await page.getByText('The validator finds nothing.').waitFor();
    await keepsRules(page, 'new method');
    await page.getByRole('button', { name: 'Save the method' }).click();
    await page.waitForURL(/\/methods\/[a-z0-9]+\/versions/);
    methodId = /methods\/([a-z0-9]+)/.exec(page.url())?.[1] ?? '';
    await keepsRules(page, 'versions');
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Published', { exact: true }).waitFor();

    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Start a run' }).waitFor();
    await page.getByLabel('Amount').fill('250');
    await keepsRules(page, 'overview');
  });

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
    await keepsRules(page, 'conflict');
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

  test('goes from a version and from a key to the runs of each', async () => {
    const shown = page.getByRole('search', { name: 'Filter the runs' });
    await page.goto(at(`/methods/${methodId}/versions`));
    await page.getByRole('link', { name: 'Its runs' }).first().click();
    await shown.getByRole('button', { name: 'Remove the filter version' }).waitFor();
    await page.goto(at('/settings?part=keys'));
    await page.getByRole('link', { name: 'Its runs' }).first().click();
    await shown.getByRole('button', { name: 'Remove the filter started_by' }).waitFor();
  });

  test('rolls back after a bad version, with the keyboard only', async () => {
    /** Presses Tab until the focus is there: what the keyboard does not reach fails. */
    const tabTo = async (target: Locator) => {
      await target.waitFor();
      const isFocused = () => target.evaluate((element) => element.ownerDocument.activeElement === element);
      for (let presses = 0; presses < 80; presses++) {
        if (await isFocused()) return;
        await page.keyboard.press('Tab');
      }
      assert.fail(`Tab does not reach ${target}`);
    };
    const published = async (button: Locator, act: string, version: string) => {
      await tabTo(button);
      await page.keyboard.press('Enter');
      await tabTo(page.getByRole('dialog').getByRole('button', { name: act }));
      await page.keyboard.press('Enter');
      await until(`${act}: the version is published`, async () => (await method()).published_version === version);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      const focus = () => page.evaluate<string>('document.activeElement.tagName');
      await until(`${act}: the focus is kept`, async () => (await focus()) !== 'BODY');
    };
    const { current_version: bad, published_version: good } = await method();
    await page.goto(at(`/methods/${methodId}/versions`));
    await published(page.getByRole('button', { name: 'Publish', exact: true }).first(), 'Publish', bad);
    await published(page.getByRole('button', { name: 'Roll back to it' }).last(), 'Roll back', good);
  });

  // The five questions of docs/dashboard.md, each from Production, and what each takes.
  describe('a person who never saw it finds', () => {
    let clicks = 0;
    const click = async (of: Locator) => {
      clicks++;
      await of.click();
    };
    const pages = () => page.getByRole('navigation', { name: 'Pages' });
    const fromProduction = async () => {
      await page.goto(at('/'));
      await page.getByRole('grid').waitFor();
      clicks = 0;
    };

    test('which runs failed in the last hour, and why: 3 clicks', async () => {
      const body = { method: stack.method('refused-order'), inputs: { url: 'http://127.0.0.1:9/' } };
      const { run_id: runId } = (await grace.request('POST', '/api/runs', { body })).read<{ run_id: string }>();
      await until('the run has failed', async () => {
        const { status } = (await grace.request('GET', `/api/runs/${runId}`)).read<{ status: string }>();
        return status === 'failed';
      });
      await fromProduction();
      await click(page.getByRole('group', { name: 'Status' }).getByRole('button', { name: 'Failed' }));
      await click(page.getByRole('button', { name: 'Any time' }));
      await click(page.getByRole('menuitem', { name: /hour/ }).first());
      const row = page.getByRole('row').filter({ hasText: runId.slice(-8) });
      await row.waitFor();
      assert.match((await row.textContent()) ?? '', /Failed.*The secret E2E_TOKEN is not set/);
      assert.equal(clicks, 3);
    });

    test('who answered a question: 2 clicks', async () => {
      const body = { method: stack.method('approve'), inputs: { order_id: 'ord_7f3', amount: 250 } };
      const { run_id: runId } = (await grace.request('POST', '/api/runs', { body })).read<{ run_id: string }>();
      const asked = async () =>
        (await grace.request('GET', `/api/runs/${runId}`)).read<{ question?: { id: string } }>().question?.id;
      const questionId = await until('the run asks', asked);
      const answer = { answer: { decision: 'approve' } };
      await grace.request('POST', `/api/questions/${questionId}/answer`, { body: answer });
      await fromProduction();
      await click(
        page
          .getByRole('row')
          .filter({ hasText: runId.slice(-8) })
          .getByRole('link')
          .first(),
      );
      await click(page.getByRole('treeitem', { name: /approval/ }));
      await page.getByText(/grace\.story.* answered: Approve|Grace.* answered/i).waitFor();
      assert.equal(clicks, 2);
    });

    test('what changed between two versions: 4 clicks', async () => {
      await fromProduction();
      await click(pages().getByRole('link', { name: 'Methods' }));
      await click(page.getByRole('link', { name: /story-refund/ }));
      await click(page.getByRole('link', { name: 'Versions' }));
      await click(page.getByRole('button', { name: 'Compare with the published one' }).first());
      await page.getByText('# mine').first().waitFor();
      assert.equal(clicks, 4);
    });

    test('how many workers a method has: 2 clicks', async () => {
      await fromProduction();
      await click(pages().getByRole('link', { name: 'Methods' }));
      await click(page.getByRole('link', { name: 'Approve a refund' }));
      await page.getByText('One worker runs it').waitFor();
      assert.equal(clicks, 2);
    });

    test('how to make a key: 4 clicks', async () => {
      await fromProduction();
      await click(pages().getByRole('link', { name: 'Settings' }));
      await click(page.getByRole('tab', { name: 'Keys' }));
      await click(page.getByRole('button', { name: 'New key' }));
      await page.getByRole('dialog').getByLabel('Name').fill('found by walking');
      await click(page.getByRole('dialog').getByRole('button', { name: /Make|Create/ }));
      await page.getByText(/SERVICE_API_KEY/).waitFor();
      assert.equal(clicks, 4);
    });
  });
});
