// The page that describes the API, in a real browser: it lets one try a call, and speaks only to this server.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findChromium } from '../../harness/headless-browser.ts';
import { openSharedBrowser } from '../../harness/shared-browser.ts';
import type { AccountWorld } from './account-world.ts';

const chromium = findChromium();
const skip = chromium === null ? 'no Chromium is installed on this machine' : false;

export function referencePage(world: () => AccountWorld): void {
  describe('the reference page', { skip }, () => {
    test('lets a person try a call with their token, and speaks to no other server', async () => {
      const { stack, member } = world();
      const baseUrl = stack.ready.base_url;
      await using browser = await openSharedBrowser(chromium ?? '');
      const { page } = browser;
      await page.goto(`${baseUrl}/reference`);
      const button = (name: string | RegExp) => page.getByRole('button', { name }).first().click();
      await button('Select Auth Type');
      await page.getByRole('option', { name: 'accessToken' }).first().click();
      await page.getByPlaceholder('Token', { exact: true }).first().fill(member.apiKey);
      await button('Open Group - organization');
      await page.getByRole('link', { name: 'Who asks' }).first().click();
      await button('get /api/whoami');
      await button(/^Send/);
      for (const shown of ['200 OK', 'mo@example.com']) await page.getByText(shown).first().waitFor();
      assert.deepEqual(browser.complaints, []);
      assert.ok(browser.requested.includes(`${baseUrl}/api/whoami`), browser.requested.join('\n'));
      assert.deepEqual(
        browser.requested.filter((url) => new URL(url).origin !== baseUrl),
        [],
      );
    });
  });
}
