// The page of a run in a real browser: why a run failed and a rerun from that step, a question answered beside its
// step, a run of 5,000 steps, and hostile texts. Pages keep the rules of axe, light and dark.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { ApiClient } from '../e2e/api-client.ts';
import { faults, keepsRules, pageOf, signedInVisitor, signInAs, skip } from '../e2e/dashboard/visitor.ts';
import { person } from '../e2e/people.ts';
import type { Stack } from '../e2e/stack.ts';
import type { HeadlessBrowser } from '../harness/headless-browser.ts';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';

const ADA = { email: 'ada.run@example.com', role: 'admin' } as const;
const VIC = { email: 'vic.run@example.com', role: 'viewer' } as const;
const HOSTILE = '<img src=x onerror=alert(1)>\u202egpj.exe\u001b[2J';

/** Scrolls the first value of the page from its begin to its end. */
const SCROLLED_VALUE = `(async () => {
  const box = document.querySelector('article pre');
  let [longestMs, last] = [0, performance.now()];
  for (let part = 0; part <= 40; part++) {
    box.scrollTop = (box.scrollHeight * part) / 40;
    await new Promise((resolve) => requestAnimationFrame(resolve));
    longestMs = Math.max(longestMs, performance.now() - last);
    last = performance.now();
  }
  return { longestMs, elements: document.querySelectorAll('*').length };
})()`;

describe('the page of a run', { skip }, () => {
  let stack: Stack;
  let browser: HeadlessBrowser;
  let page: Page;
  let ada: ApiClient;
  let refund: string;
  const at = (path: string) => pageOf(stack, path);

  before(async () => {
    stack = await commonStack();
    browser = await signedInVisitor(stack, ADA);
    page = browser.page;
    page.setDefaultTimeout(30_000);
    ada = await person(stack, ADA);
    refund = stack.method('refund');
  });
  after(() => browser?.[Symbol.asyncDispose]());

  async function started(method: string, inputs: object): Promise<string> {
    const body = { method, inputs, metadata: { order: HOSTILE.slice(0, 40) } };
    return (await ada.request('POST', '/api/runs', { body })).read<{ run_id: string }>().run_id;
  }

  const read = async (runId: string) =>
    (await ada.request('GET', `/api/runs/${runId}`)).read<{
      status: string;
      question?: { id: string };
      error?: object;
      steps: { name: string; attempt: number; status: string }[];
    }>();
  const is = async (runId: string, status: string) => {
    await until(`${runId} is ${status}`, async () => /succeeded|failed|waiting/.test((await read(runId)).status));
    const { status: found, error } = await read(runId);
    assert.equal(found, status, JSON.stringify(error));
  };

  test('a question is answered beside its step, and the page follows the run to its end', async () => {
    const runId = await started(refund, { order: HOSTILE, fails: false });
    await page.goto(at(`/runs/${runId}`));
    await page.getByText('It waits for an answer.').waitFor();
    await keepsRules(page, 'waiting');
    await page.getByRole('link', { name: 'Look and answer' }).click();
    await page.getByRole('article').getByRole('radio', { name: 'Yes' }).waitFor();
    await keepsRules(page, 'question');
    await page.getByRole('radio', { name: 'Yes' }).check();
    await page.getByRole('button', { name: 'Send answer' }).click();
    // No reload: the event stream brings the end.
    await page.getByRole('region', { name: 'About this run' }).getByText('Succeeded').waitFor();
    await page.getByRole('article').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('region', { name: 'Result', exact: true }).getByText('"paid": true').waitFor();
    await page.getByRole('link', { name: 'Inputs and result' }).click();
    await page.getByText('"paid": true').waitFor();
    assert.equal(await page.locator('img').count(), 0, 'texts of callers are texts');
    await keepsRules(page, 'values');
    await page.getByRole('link', { name: 'JSON' }).click();
    await page.getByText('"run_data": "account"').waitFor();
    await keepsRules(page, 'json');
    await page.getByRole('link', { name: 'Deliveries' }).last().click();
    const deliveries = page.getByRole('grid', { name: 'Deliveries' });
    await deliveries.getByText(ADA.email, { exact: true }).waitFor();
    await deliveries.getByText('finds who is mailed').waitFor();
    await keepsRules(page, 'deliveries');
  });

  test('one finds why a run failed, and runs it again from that step, with the keyboard only', async () => {
    const runId = await started(refund, { order: 'ord_7', fails: true });
    await is(runId, 'waiting');
    const { question } = await read(runId);
    await ada.request('POST', `/api/questions/${question?.id}/answer`, { body: { answer: { approve: true } } });
    await is(runId, 'failed');
    await page.goto(at(`/?status=failed`));
    await page.getByRole('grid').getByText('the bank said no').first().waitFor();
    await page.getByRole('grid').focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/runs/${runId}`));
    await page.getByRole('tree').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByRole('article').getByText('the bank said no').waitFor();
    await keepsRules(page, 'failed step');
    const again = page.getByRole('link', { name: 'Run again from here' });
    await again.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('This step acts again: pay').waitFor();
    await keepsRules(page, 'rerun');
    await page.getByRole('button', { name: 'Start 1 run' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => /\/runs\/run_/.test(url.pathname) && !url.pathname.includes(runId));
    const next = /run_[a-z0-9]+/.exec(page.url())?.[0] ?? '';
    await is(next, 'failed');
    const { steps } = await read(next);
    assert.deepEqual(
      steps.map(({ name, attempt, status }) => [name, attempt, status]),
      [
        ['order', 0, 'succeeded'],
        ['approval', 0, 'succeeded'],
        ['pay', 1, 'failed'],
      ],
    );
    const about = page.getByRole('region', { name: 'About this run' });
    await about.getByText('Repeats').getByRole('link').click();
    await page.waitForURL((url) => url.pathname.includes(runId));
    await about.getByText('Repeated by').getByRole('link').click();
    await page.waitForURL((url) => url.pathname.includes(next));
    // With other inputs it begins with the first step.
    await page.getByRole('button', { name: 'Run again' }).click();
    const inputs = page.getByRole('dialog').getByLabel('Inputs');
    await inputs.fill('{"order": "ord_8", "fails": ');
    await page.getByText('This is not a JSON object.').waitFor();
    await inputs.fill('{"order": "ord_8", "fails": false}');
    assert.ok(await page.getByLabel('First step').isDisabled());
    await page.getByRole('button', { name: 'Start 1 run' }).click();
    await page.waitForURL((url) => !url.pathname.includes(next));
    await page.getByText('It waits for an answer.').waitFor();
    await about.getByText(`…${next.slice(-8)}`).waitFor();
    await about.getByRole('link', { name: 'Ada Run' }).click();
    await page.waitForURL(({ searchParams }) => /^usr_/.test(searchParams.get('started_by') ?? ''));
    await page.getByRole('grid', { name: 'Runs' }).getByText(runId.slice(-8)).first().waitFor();
  });

  test('the source has the result of each step beside its line, and marks the line of the error', async () => {
    const { items } = (await ada.request('GET', '/api/runs?status=failed&limit=1')).read<{
      items: { run_id: string }[];
    }>();
    await page.goto(at(`/runs/${items[0]?.run_id}?step=pay`));
    await page
      .getByRole('article')
      .getByRole('link', { name: /line \d+/ })
      .click();
    await page.getByRole('list', { name: 'Source of the version' }).getByText('failed').waitFor();
    assert.match((await page.locator('li[data-fault]').textContent()) ?? '', /throw new Error/);
    await keepsRules(page, 'source');
  });

  test('a run of 5,000 steps opens within a second, folded; its rounds open and scroll', async (t) => {
    const runId = await started(stack.method('many'), {});
    await is(runId, 'succeeded');
    await page.goto(at('/'));
    await page.getByRole('grid').waitFor();
    const begun = Date.now();
    await page.goto(at(`/runs/${runId}`));
    await page.getByRole('treeitem', { name: /each/ }).waitFor();
    t.diagnostic(`opened in ${Date.now() - begun} ms`);
    await page.getByText('2,500 ok').waitFor();
    await page.getByRole('tree').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowRight');
    await page.getByRole('treeitem', { name: /\[0\]/ }).waitFor();
    await page.keyboard.press('End');
    await page
      .getByRole('treeitem', { name: /double/ })
      .last()
      .waitFor();
    assert.ok((await page.getByRole('treeitem').count()) < 100, 'only rows in view are drawn');
    await page.getByLabel('Filter steps by name').fill('[2499]');
    await page
      .getByRole('treeitem', { name: /\[2499\]/ })
      .first()
      .waitFor();
    await keepsRules(page, 'many');
  });

  test('a megabyte in one line, and marks that turn texts, are shown harmless and at once', async (t) => {
    const runId = await started(stack.method('large'), {});
    await is(runId, 'succeeded');
    await page.goto(at(`/runs/${runId}?step=write`));
    const article = page.getByRole('article');
    await article.getByText('The first 16 KiB of 1016 KiB').waitFor();
    await keepsRules(page, 'part of a large value');
    const begun = Date.now();
    await article.getByRole('button', { name: 'Show all' }).click();
    await article.getByText('1016 KiB', { exact: true }).waitFor();
    t.diagnostic(`all of it after ${Date.now() - begun} ms`);
    const { longestMs, elements } = await page.evaluate<{ longestMs: number; elements: number }>(SCROLLED_VALUE);
    t.diagnostic(`${elements} elements, longest frame while it scrolls ${longestMs.toFixed(0)} ms`);
    assert.ok(elements < 5_000, `${elements} elements`);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
    assert.ok((await article.locator('pre').first().textContent())?.includes('"turned":"\\u202ea\\u202ea'));
    await keepsRules(page, 'large value');
  });

  test('a viewer is offered no act, and the page asks for nothing while nothing happens', async () => {
    await signInAs(stack, page, VIC);
    const runId = await started(refund, { order: 'ord_9', fails: false });
    await is(runId, 'waiting');
    await page.goto(at(`/runs/${runId}`));
    await page.getByText('It waits for an answer.').waitFor();
    for (const name of ['Run again', 'Cancel']) assert.equal(await page.getByRole('button', { name }).count(), 0);
    assert.deepEqual(faults(browser), []);
  });
});
