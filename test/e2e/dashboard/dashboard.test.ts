// The dashboard in a real browser, in front of a real stack.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../harness/until.ts';
import type { Stack } from '../stack.ts';
import { commonStack } from '../two-gateways.ts';
import { faults, signedInVisitor, skip, visitor } from './visitor.ts';

const ADA = { email: 'ada@example.com', role: 'admin' } as const;
const greeting = (stack: Stack) => ({ method: stack.method('greet'), inputs: { name: 'Ada' } });

test('a person signs in and comes back to the page they asked for: the list of runs', { skip }, async () => {
  const stack = await commonStack();
  const { run_id: run } = await stack.api.startSettled(greeting(stack));
  await using browser = await visitor();
  const { page } = browser;
  await page.goto(`${stack.ready.base_url}/?status=succeeded`);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.fill('#email', ADA.email);
  await page.fill('#organization', 'Local');
  await page.selectOption('#role', ADA.role);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${stack.ready.base_url}/o/${stack.ready.org_id}/?status=succeeded`);
  await page
    .getByRole('grid', { name: 'Runs' })
    .getByText(`…${run.slice(-8)}`)
    .waitFor();

  assert.deepEqual(faults(browser), []);
  const origins = new Set(browser.requested.map((url) => new URL(url).origin));
  assert.deepEqual([...origins].sort(), [stack.ready.base_url, new URL(stack.ready.issuer).origin].sort());

  await page.getByRole('button', { name: /^Ada, admin/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Methods' }).waitFor();
});

test('an organization without runs sees the way to its first one', { skip }, async () => {
  const stack = await commonStack();
  await using browser = await signedInVisitor(stack, { ...ADA, organization: 'Newcomers' });
  await browser.page.goto(stack.ready.base_url);
  await browser.page.getByRole('heading', { name: 'Start a worker' }).waitFor();
  assert.match(browser.page.url(), /\/o\/org_[0-9a-z]{26}\/$/);
  assert.ok(!browser.page.url().includes(stack.ready.org_id));
  // Its address in another organization shows nothing of that one.
  await browser.page.goto(`${stack.ready.base_url}/o/${stack.ready.org_id}/`);
  await browser.page.getByRole('heading', { name: 'This is another organization’s page' }).waitFor();
});

test('ten tabs share one stream, and another tab takes it when its tab closes', { skip }, async () => {
  const stack = await commonStack();
  await using browser = await signedInVisitor(stack, ADA);
  const streams = () => browser.requested.filter((url) => url.endsWith('/api/events')).length;
  const tabs = [browser.page];
  while (tabs.length < 10) tabs.push(await browser.tab());
  for (const tab of tabs) {
    await tab.goto(stack.ready.base_url);
    await tab.getByRole('grid', { name: 'Runs' }).waitFor();
  }
  assert.equal(streams(), 1);
  await browser.page.close();
  await until('another tab has the stream', () => streams() === 2);
  const { run_id: run } = await stack.api.startSettled(greeting(stack));
  const [, second, ...others] = tabs;
  for (const tab of [second, others.at(-1)]) {
    await tab?.bringToFront();
    await tab?.getByRole('button', { name: /^\d+ new run/ }).click();
    await tab?.getByText(`…${run.slice(-8)}`).waitFor();
  }
  assert.equal(streams(), 2);
});
