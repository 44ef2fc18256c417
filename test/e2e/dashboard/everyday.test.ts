// What people meet besides their work: acts that are not theirs, and addresses that lead nowhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { person } from '../people.ts';
import { commonStack } from '../two-gateways.ts';
import { faults, signedInVisitor, skip } from './visitor.ts';

const ADA = { email: 'ada@example.com', role: 'admin' } as const;
const VIC = { email: 'vic.everyday@example.com', role: 'viewer' } as const;

test('a viewer is offered nothing that the server refuses', { skip }, async () => {
  const stack = await commonStack();
  await using browser = await signedInVisitor(stack, VIC);
  const { page } = browser;
  const at = `${stack.ready.base_url}/o/${stack.ready.org_id}`;
  const greet = stack.method('greet');
  await page.goto(`${at}/methods`);
  await page.getByRole('link', { name: /greet/i }).first().waitFor();
  assert.equal(await page.getByRole('button', { name: 'New method' }).count(), 0);
  await page.goto(`${at}/methods/${greet}`);
  await page.getByText('Only members and admins start runs.').waitFor();
  assert.equal(await page.getByRole('button', { name: /Start/ }).count(), 0);
  await page.goto(`${at}/settings?part=audit`);
  await page.getByText('Only admins read the audit log.').waitFor();
  await page.goto(`${at}/settings?part=keys`);
  await page.getByRole('tab', { name: 'Keys', selected: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'New key' }).count(), 0);

  const vic = await person(stack, VIC);
  const refused = [
    await vic.request('POST', '/api/runs', { body: { method: greet, inputs: { name: 'Vic' } } }),
    await vic.request('GET', '/api/audit'),
  ];
  assert.deepEqual(
    refused.map(({ status }) => status),
    [403, 403],
  );
});

test('a person of two organizations switches between them, and another tab stays where it is', { skip }, async () => {
  const stack = await commonStack();
  await stack.api.startSettled({ method: stack.method('greet'), inputs: { name: 'Ada' } });
  await using browser = await signedInVisitor(stack, ADA);
  const { page } = browser;
  page.setDefaultTimeout(60_000);
  const first = `${stack.ready.base_url}/o/${stack.ready.org_id}/`;
  await page.goto(first);
  const menu = page.getByRole('button', { name: /^Organization / });
  await menu.click();
  await page.getByRole('menuitem', { name: 'Sign in to another one' }).click();
  await page.fill('#email', ADA.email);
  await page.fill('#organization', 'Second');
  await page.selectOption('#role', 'viewer');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Start a worker' }).waitFor();
  const second = page.url();
  assert.match(second, /\/o\/org_[0-9a-z]{26}\/$/);
  assert.notEqual(second, first);

  const tab = await browser.tab();
  await tab.goto(first);
  await tab.getByRole('grid', { name: 'Runs' }).waitFor();
  await page.bringToFront();
  await menu.click();
  await page.getByRole('menuitem', { name: 'Local', exact: true }).click();
  await page.waitForURL(first);
  await page.getByRole('grid', { name: 'Runs' }).waitFor();
  await menu.click();
  const asked = browser.requested.length;
  await page.getByRole('menuitem', { name: 'Second', exact: true }).click();
  await page.waitForURL(second);
  await page.getByRole('heading', { name: 'Start a worker' }).waitFor();
  const calls = browser.requested.slice(asked).filter((url) => url.includes('/api/'));
  assert.ok(calls.length > 0);
  assert.deepEqual(
    calls.filter((url) => !url.startsWith(second)),
    [],
  );
  // The tab of the first one still shows it, and acts there.
  await tab.bringToFront();
  await tab.getByRole('link', { name: 'Workers' }).click();
  await tab.waitForURL(`${first}workers`);
  await tab.getByRole('grid', { name: 'Workers' }).waitFor();
  assert.deepEqual(faults(browser), []);

  // Signing out ends both.
  await tab.getByRole('button', { name: /^Ada, / }).click();
  await tab.getByRole('menuitem', { name: 'Sign out' }).click();
  await tab.getByRole('heading', { name: 'Sign in to Methods' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: /Sign in to Methods|Your session has ended/ }).waitFor();
});

test('unknown paths of programs keep their own 404, and those of people say so in a heading', { skip }, async () => {
  const stack = await commonStack();
  const { base_url: base, org_id: org } = stack.ready;
  for (const surface of ['api', 'v1', 'mcp', 'a', 'auth', 'packages']) {
    const reply = await fetch(`${base}/${surface}/no/such/path`, { headers: { accept: 'text/html' } });
    assert.equal(reply.status, 404, surface);
    assert.doesNotMatch(await reply.text(), /id="app"/, surface);
  }
  await using browser = await signedInVisitor(stack, ADA);
  browser.page.setDefaultTimeout(60_000);
  for (const path of ['/nothing', '/settings/nothing']) {
    await browser.page.goto(`${base}/o/${org}${path}`);
    await browser.page.getByRole('heading', { level: 1, name: 'There is no such page' }).waitFor();
  }
});
