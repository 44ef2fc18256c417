// What people meet every day besides their work: acts that are not theirs, addresses of programs, and a large text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { person } from '../people.ts';
import { commonStack } from '../two-gateways.ts';
import { signedInVisitor, skip } from './visitor.ts';

const ADA = { email: 'ada@example.com', role: 'admin' } as const;
const VIC = { email: 'vic.everyday@example.com', role: 'viewer' } as const;
const PAGES = ['/', '/inbox', '/methods', '/workers', '/deliveries', '/usage', '/settings'];

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

test('pages fit a zoom of 200 %, and nothing moves where motion is reduced', { skip }, async () => {
  const stack = await commonStack();
  await using browser = await signedInVisitor(stack, ADA);
  const { page } = browser;
  // Half the width in CSS pixels is what a zoom of 200 % leaves.
  await page.setViewportSize({ width: 640, height: 512 });
  await page.emulateMedia({ reducedMotion: 'reduce' });
  for (const path of PAGES) {
    await page.goto(`${stack.ready.base_url}/o/${stack.ready.org_id}${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    assert.ok((await page.evaluate<number>('document.documentElement.scrollWidth')) <= 640, path);
  }
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor();
  const moving = 'document.getAnimations().filter(({ effect }) => effect.getTiming().duration > 1).length';
  assert.equal(await page.evaluate<number>(moving), 0);
});

test('a page that is idle asks for nothing besides its stream', { skip }, async () => {
  const stack = await commonStack();
  await using browser = await signedInVisitor(stack, { ...ADA, organization: 'Idlers' });
  const { page } = browser;
  await page.clock.install();
  await page.goto(stack.ready.base_url);
  await page.getByRole('heading', { name: 'Start a worker' }).waitFor();
  await page.waitForLoadState('load');
  const replies = browser.requested.length;
  // Less than the silence after which the stream is held for dead.
  await page.clock.runFor(35_000);
  const asked = browser.requested.slice(replies).filter((url) => !url.endsWith('/api/events'));
  assert.ok(asked.length <= 1, asked.join('\n'));
});
