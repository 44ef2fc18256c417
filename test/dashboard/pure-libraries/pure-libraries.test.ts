// The editor's validator and the forms run in a browser under the production policy, bundled as the dashboard is, and
// find what they find in Node.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { viteConfig } from '@methods/dashboard/build/vite-config';
import { readForm } from '@methods/form/field';
import { readPostedAnswer } from '@methods/form/posted-answer';
import { addDashboard } from '@methods/gateway/routes/dashboard/dashboard-routes';
import { compileMethod } from '@methods/method/compile';
import { upgradeSource } from '@methods/method/upgrade/upgrade-source';
import { fastify } from 'fastify';
import { build } from 'vite';
import { findChromium, openHeadlessBrowser } from '../../harness/headless-browser.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { findingsOfSource } from './source-findings.ts';

const EXAMPLES = new URL('../../../libs/method/examples/', import.meta.url);
const ROOT = fileURLToPath(new URL('.', import.meta.url));
const LIBRARIES = { compileMethod, upgradeSource, readForm, readPostedAnswer };

/** Every example, the older formats, and each example with faults of several kinds. */
function sources(): string[] {
  const files = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.method'));
  const texts = files.sort().map((name) => readFileSync(new URL(name, EXAMPLES), 'utf8'));
  const broken = texts.flatMap((text) => [
    text.replace('inputs.', 'input.'),
    text.replace(/^steps:/m, 'stps:'),
    `${text}\tx: 😀 é\n`,
    text.replace(/^inputs:.*$/m, '$&\n  raw: { $schema: { minLength: -1, required: [a, a] } }'),
  ]);
  return [...texts, ...broken, '', 'a: "\ud800"'];
}

const chromium = findChromium();

test('in Chromium, under the policy of production, every source has the findings that Node has', {
  skip: chromium === null && 'needs Chromium',
}, async () => {
  const folder = tempFolder('pure-libraries');
  await build({ ...viteConfig(folder), root: ROOT });
  const app = fastify();
  addDashboard(app, { dashboardDir: folder });
  await app.listen({ host: '127.0.0.1', port: 0 });
  await using browser = await openHeadlessBrowser(chromium ?? '');
  try {
    const { port } = app.server.address() as AddressInfo;
    const reply = await browser.page.goto(`http://127.0.0.1:${port}/`);
    assert.doesNotMatch(reply?.headers()['content-security-policy'] ?? 'unsafe-', /unsafe-/);
    await browser.page.waitForFunction('"findingsOf" in globalThis');
    const asked = sources();
    assert.ok(asked.length > 100);
    const found = (await browser.page.evaluate(`findingsOf(${JSON.stringify(asked)})`)) as string[];
    for (const [at, source] of asked.entries()) {
      assert.equal(found[at], findingsOfSource(LIBRARIES, source), source.slice(0, 200));
    }
    assert.deepEqual(browser.complaints, []);
  } finally {
    await app.close();
  }
});
