// Replies that come late, or not at all, and pages that a person has left: in the Inbox, and at the page of a run.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import type { ApiClient } from '../e2e/api-client.ts';
import { pageOf, signedInVisitor, skip } from '../e2e/dashboard/visitor.ts';
import { person } from '../e2e/people.ts';
import type { Stack } from '../e2e/stack.ts';
import type { HeadlessBrowser } from '../harness/headless-browser.ts';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';

const ADA = { email: 'ada.late@example.com', role: 'admin' } as const;
const ANSWERS = '**/api/questions/*/answer';

describe('a person who does not wait for a reply', { skip }, () => {
  let stack: Stack;
  let browser: HeadlessBrowser;
  let page: Page;
  let ada: ApiClient;
  const at = (path: string) => pageOf(stack, path);

  before(async () => {
    stack = await commonStack();
    browser = await signedInVisitor(stack, ADA);
    page = browser.page;
    page.setDefaultTimeout(30_000);
    ada = await person(stack, ADA);
  });
  after(() => browser?.[Symbol.asyncDispose]());

  async function asking(order: string): Promise<{ runId: string; questionId: string; customer: string }> {
    const body = { method: stack.method('approve'), inputs: { order_id: order, amount: 250 } };
    const { run_id: runId } = (await ada.request('POST', '/api/runs', { body })).read<{ run_id: string }>();
    const questionId = await until('the run asks', async () => (await stack.api.get(runId)).run.question?.id);
    return { runId, questionId, customer: `${order}@example.com` };
  }
  async function send(): Promise<void> {
    await page.getByRole('radio', { name: 'Approve' }).check();
    await page.getByRole('button', { name: 'Send answer' }).click();
  }

  test('stays at the question that they went to meanwhile', async () => {
    const [, second, third] = [await asking('ord_late1'), await asking('ord_late2'), await asking('ord_late3')];
    await page.goto(at(`/inbox?question=${second.questionId}`));
    let reply = () => {};
    const held = new Promise<void>((resolve) => {
      reply = resolve;
    });
    await page.route(ANSWERS, (route: Route) => held.then(() => route.continue()));
    await send();
    await page.getByRole('link').filter({ hasText: third.customer }).click();
    await page.getByRole('heading', { name: third.customer }).waitFor();
    await page.getByLabel('Note').fill('half written');
    reply();
    await page.getByText('Sent: Approve').waitFor();
    assert.equal(await page.getByLabel('Note').inputValue(), 'half written');
    assert.equal(new URL(page.url()).searchParams.get('question'), third.questionId);
    await page.unroute(ANSWERS);
  });

  test('reads that an answer without a reply may have arrived, and sends it again', async () => {
    const { questionId } = await asking('ord_late4');
    await page.goto(at(`/inbox?question=${questionId}`));
    await page.route(ANSWERS, (route) => route.abort());
    await send();
    await page.getByText('It is not known whether your answer arrived.').waitFor();
    await page.unroute(ANSWERS);
    await page.getByRole('button', { name: 'Send answer' }).click();
    await page.getByText('Sent: Approve').last().waitFor();
  });

  test('cancels no other run than the one whose page asked', async () => {
    const [first, other] = [await asking('ord_late5'), await asking('ord_late6')];
    await page.goto(at(`/runs/${first.runId}`));
    const cancel = page.getByRole('button', { name: 'Cancel', exact: true });
    const about = (runId: string) => page.getByRole('heading', { name: runId.slice(-8) });
    await cancel.waitFor();
    await page.evaluate(`history.pushState({}, '', ${JSON.stringify(at(`/runs/${other.runId}`))})`);
    await about(other.runId).waitFor();
    await cancel.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel 1 run' }).waitFor();
    await page.goBack();
    await about(first.runId).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });
});
