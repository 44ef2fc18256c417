// What people meet besides their work: acts that are not theirs, and addresses that lead nowhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { person } from '../people.ts';
import { commonStack } from '../two-gateways.ts';
import { signedInVisitor, skip } from './visitor.ts';

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
