// The page of a run in a real browser: why a run failed and a rerun from that step, a question answered beside its
// step, a run of 5,000 steps, and hostile texts. Pages keep the rules of axe, light and dark.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import type { ApiClient } from '../e2e/api-client.ts';
import { person, sessionOf } from '../e2e/people.ts';
import { type Stack, startStack } from '../e2e/stack.ts';
import { findChromium, type HeadlessBrowser, openHeadlessBrowser } from '../harness/headless-browser.ts';
import { until } from '../harness/until.ts';

const ADA = { email: 'ada.run@example.com', role: 'admin' } as const;
const VIC = { email: 'vic.run@example.com', role: 'viewer' } as const;
const REFUND = `format: method/2
name: refund
inputs:
  order: text ..2000
  fails: boolean
steps:
  - name: order
    node: |
      console.log('\\u001b[31mlooking for\\u001b[0m', order);
      return { found: order };
    in: { order: =inputs.order }
    out: { found: text }
  - name: approval
    ask: Refund \${inputs.order}?
    out: { approve: boolean }
  - name: pay
    node: |
      if (fails) throw new Error('the bank said no');
      return { paid: true };
    in: { fails: =inputs.fails }
    out: { paid: boolean }
result: { paid: =steps.pay.paid }
`;
const MANY = `format: method/2
name: many
limits: { max_steps: 10000 }
steps:
  - name: list
    node: |
      return { items: Array.from({ length: 2500 }, (_, at) => at) };
    out: { items: list<number> }
  - name: each
    each: =steps.list.items
    steps:
      - name: double
        node: |
          return { twice: item * 2 };
        in: { item: =item }
        out: { twice: number }
result: { ok: true }
`;
const HOSTILE = '<img src=x onerror=alert(1)>\u202egpj.exe\u001b[2J';

const chromium = findChromium();

describe('the page of a run', { skip: chromium === null && 'needs Chromium' }, () => {
  let stack: Stack;
  let browser: HeadlessBrowser;
  let page: Page;
  let ada: ApiClient;
  let refund: string;
  let methods: string;
  const at = (path: string) => `${stack.ready.base_url}/o/${stack.ready.org_id}${path}`;

  before(async () => {
    methods = mkdtempSync(join(tmpdir(), 'methods-test-run-page-'));
    for (const [name, source] of Object.entries({ refund: REFUND, many: MANY })) {
      writeFileSync(join(methods, `${name}.method`), source);
    }
    stack = await startStack('dashboard-run', { args: ['--workers', '1', '--methods', methods] });
    browser = await openHeadlessBrowser(chromium ?? '');
    page = browser.page;
    page.setDefaultTimeout(20_000);
    await page.setViewportSize({ width: 1_440, height: 900 });
    await signedInAs(ADA);
    ada = await person(stack, ADA);
    refund = stack.ready.methods.refund ?? '';
  });
  after(async () => {
    await browser?.[Symbol.asyncDispose]();
    await stack?.stop();
    rmSync(methods, { recursive: true, force: true });
  });

  async function signedInAs(who: typeof ADA | typeof VIC): Promise<void> {
    const value = await sessionOf(stack, who);
    await page.context().addCookies([{ name: 'workflow_session', value, url: stack.ready.base_url }]);
  }

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

  test('a question is answered beside its step, and the page follows the run to its end', async () => {
    const runId = await started(refund, { order: HOSTILE, fails: false });
    await page.goto(at(`/runs/${runId}`));
    await page.getByText('It waits for an answer.').waitFor();
    await keepsRules('waiting');
    await page.getByRole('link', { name: 'Look and answer' }).click();
    await page.getByRole('article').getByRole('radio', { name: 'Yes' }).waitFor();
    await keepsRules('question');
    await page.getByRole('radio', { name: 'Yes' }).check();
    await page.getByRole('button', { name: 'Send answer' }).click();
    // No reload: the event stream brings the end.
    await page.getByRole('region', { name: 'About this run' }).getByText('Succeeded').waitFor();
    await page.getByRole('link', { name: 'Inputs and result' }).click();
    await page.getByText('"paid": true').waitFor();
    assert.equal(await page.locator('img').count(), 0, 'texts of callers are texts');
    await keepsRules('values');
    await page.getByRole('link', { name: 'JSON' }).click();
    await page.getByText('"run_data": "account"').waitFor();
    await keepsRules('json');
    await page.getByRole('link', { name: 'Deliveries' }).last().click();
    await page.getByText('Nothing has been sent about this run.').waitFor();
    await keepsRules('deliveries');
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
    await keepsRules('failed step');
    const again = page.getByRole('link', { name: 'Run again from here' });
    await again.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('This step acts again: pay').waitFor();
    await keepsRules('rerun');
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
    await keepsRules('source');
  });

  test('a run of 5,000 steps opens within a second, folded; its rounds open and scroll', async (t) => {
    const runId = await started(stack.ready.methods.many ?? '', {});
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
    await keepsRules('many');
  });

  test('a viewer is offered no act, and the page asks for nothing while nothing happens', async () => {
    await page.context().clearCookies();
    await signedInAs(VIC);
    const runId = await started(refund, { order: 'ord_9', fails: false });
    await is(runId, 'waiting');
    await page.goto(at(`/runs/${runId}`));
    await page.getByText('It waits for an answer.').waitFor();
    for (const name of ['Run again', 'Cancel']) assert.equal(await page.getByRole('button', { name }).count(), 0);
    assert.deepEqual(browser.complaints, []);
  });
});
