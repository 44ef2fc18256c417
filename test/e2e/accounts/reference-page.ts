// The page that describes the API, in a real browser: it lets one try a call, and speaks to this server alone.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findChromium, HeadlessBrowser } from '../../harness/headless-browser.ts';
import { until } from '../../harness/until.ts';
import type { AccountWorld } from './account-world.ts';

const chromium = findChromium();
const skip = chromium === null ? 'no Chromium is installed on this machine' : false;

export function referencePage(world: () => AccountWorld): void {
  describe('the reference page', { skip }, () => {
    test('lets a person try a call with their token, and speaks to nobody else', async () => {
      const { stack, member } = world();
      const baseUrl = stack.ready.base_url;
      await using browser = await HeadlessBrowser.started(chromium ?? '');
      await browser.open(`${baseUrl}/reference`);
      await browser.click('button', 'Select Auth Type');
      await browser.click('[role=option]', 'accessToken');
      await browser.type('input[placeholder=Token]', member.apiKey);
      await browser.click('button', 'Open Group - organization');
      await browser.click('a', 'Who asks');
      await browser.click('button', 'get /api/whoami');
      await browser.click('button', 'Send');
      const shown = () => browser.evaluate<string>('document.body.innerText');
      await until('the answer is shown', async () => /200 OK.*mo@example\.com/s.test(await shown()), 20_000);
      assert.deepEqual(browser.complaints, []);
      assert.ok(browser.requested.includes(`${baseUrl}/api/whoami`), browser.requested.join('\n'));
      assert.deepEqual(
        browser.requested.filter((url) => new URL(url).origin !== baseUrl),
        [],
      );
    });
  });
}
