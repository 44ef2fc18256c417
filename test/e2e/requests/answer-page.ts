// The page of an answer link, from the link's row to the run that continues: with plain requests, and in a real browser
// that runs no scripts.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { brokenRules } from '../../harness/axe.ts';
import { findChromium } from '../../harness/headless-browser.ts';
import { openSharedBrowser } from '../../harness/shared-browser.ts';
import type { RunBody } from '../api-client.ts';
import type { Stack } from '../stack.ts';

const chromium = findChromium();
const noBrowser = chromium === null ? 'no Chromium is installed on this machine' : false;
const RECIPIENT = 'ada@acme.example';

export function answerPage(stack: () => Stack): void {
  const approve = () =>
    stack().api.startSettled({ method: stack().method('approve'), inputs: { order_id: 'ord_1', amount: 250 } });

  async function linkTo(
    run: RunBody,
    { recipient = RECIPIENT, expiresAtMs = Date.now() + 3_600_000 } = {},
  ): Promise<{ token: string; url: string }> {
    const token = randomBytes(32).toString('base64url');
    const { sql, ready } = stack();
    await sql`
      insert into notifier.answer_links (org_id, token_sha256, run_id, question_id, recipient, user_id, expires_at)
      select org_id, ${createHash('sha256').update(token).digest()}, ${run.run_id}, ${run.question?.id ?? ''},
        ${recipient}, '', to_timestamp(${expiresAtMs / 1_000})
      from scheduler.runs where run_id = ${run.run_id}`;
    return { token, url: `${ready.base_url}/a/${token}` };
  }

  const textOf = async (url: string) => (await fetch(url)).text();
  const post = async (url: string, values: Record<string, string>) =>
    (await fetch(url, { method: 'POST', body: new URLSearchParams(values) })).text();
  /** Chooses, checks and sends; the page afterwards. */
  async function answered(url: string, values: Record<string, string>): Promise<string> {
    const chosen = { ...values, nonce: hidden(await textOf(url), 'nonce') };
    const confirmation = hidden(await post(url, { ...chosen, do: 'check' }), 'confirmation');
    return post(url, { ...chosen, confirmation, do: 'send' });
  }
  const hidden = (page: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';

  describe('an answer link', () => {
    test('shows its question, answers it once after a confirmation, and then says so', async () => {
      const run = await approve();
      const { token, url } = await linkTo(run);
      for (let n = 0; n < 3; n++) {
        assert.equal((await fetch(url, { method: 'HEAD' })).status, 200);
        assert.match(await textOf(url), /Refund 250 EUR to ord_1@example\.com\?/);
      }
      const shown = await textOf(url);
      const chosen = { nonce: hidden(shown, 'nonce'), '/decision': '"approve"', '/copies': '1' };
      const check = await post(url, { ...chosen, do: 'check' });
      assert.match(check, /Check your answer: <bdi>Approve<\/bdi>/);
      assert.equal((await stack().api.get(run.run_id)).run.status, 'waiting');
      const sent = await post(url, { ...chosen, confirmation: hidden(check, 'confirmation'), do: 'send' });
      assert.match(sent, /Sent: <bdi>Approve<\/bdi>/);
      const done = await stack().api.settled(run.run_id);
      assert.deepEqual([done.status, done.result?.refunded, done.result?.copies], ['succeeded', true, 1]);
      const again = await textOf(url);
      assert.match(again, /through the link sent to <bdi>ada@acme\.example<\/bdi>/);
      assert.doesNotMatch(again, /<form/);
      for (const part of ['gateway-1', 'notifier-1', 'run-scheduler-1', 'method-registry']) {
        assert.ok(!stack().log(part).includes(token), `the log of ${part} holds the token`);
      }
    });

    test('that comes second, too late or to a cancelled run changes nothing', async () => {
      const [raced, cancelled, late] = await Promise.all([approve(), approve(), approve()]);
      const { url } = await linkTo(raced);
      const shown = await textOf(url);
      const chosen = { nonce: hidden(shown, 'nonce'), '/decision': '"approve"' };
      const confirmation = hidden(await post(url, { ...chosen, do: 'check' }), 'confirmation');
      await stack().api.answer(raced.run_id, { decision: 'reject' }, raced.question?.id);
      const page = await post(url, { ...chosen, confirmation, do: 'send' });
      assert.match(page, /Answered: <bdi>[^<]*reject[^<]*<\/bdi>, .*, by <bdi>an application<\/bdi>\./i);
      assert.equal((await stack().api.settled(raced.run_id)).result?.refunded, false);

      await stack().api.cancel(cancelled.run_id);
      assert.match(await textOf((await linkTo(cancelled)).url), /The run was cancelled\. No answer is needed\./);

      const over = await linkTo(late, { expiresAtMs: Date.now() - 1_000 });
      const expired = await textOf(over.url);
      assert.match(expired, /This link has expired\./);
      assert.doesNotMatch(expired, /<form/);
      const [, path = ''] = /<a href="(\/questions\/q_\w+)">Sign in to answer it/.exec(expired) ?? [];
      const { base_url: base } = stack().ready;
      const signIn = await fetch(base + path, { redirect: 'manual' });
      assert.equal(signIn.headers.get('location'), `/auth/login?return_to=${path}`);
      await stack().api.cancel(late.run_id);
    });

    test('gives a vote where several people have to agree, and each sees those of the others', async () => {
      const run = await stack().api.startSettled({ method: stack().method('agree'), inputs: { amount: 9 } });
      const links = ['ada', 'bob', 'eve'].map((name) => linkTo(run, { recipient: `${name}@acme.example` }));
      const [ada = '', bob = '', eve = ''] = (await Promise.all(links)).map(({ url }) => url);
      const approve = { '/decision': '"approve"', comment: 'It is due.' };
      const deadline = /after that the answer is <bdi>Reject<\/bdi>/;
      assert.match(await textOf(eve), deadline);
      assert.match(await answered(eve, approve), /You may not answer this question/);
      assert.match(await answered(ada, approve), /Sent: <bdi>Approve<\/bdi>.*The question stays open/s);
      const open = await textOf(ada);
      assert.match(open, /Answered: <bdi>Approve<\/bdi>.*It is due\.<\/q><\/strong> The question stays open/s);
      assert.doesNotMatch(open, /<form/);
      assert.match(await textOf(bob), /<bdi>ada@acme\.example<\/bdi>: <bdi>Approve<\/bdi>.*It is due\./s);
      assert.match(await answered(bob, { '/decision': '"approve"' }), /Sent: <bdi>Approve<\/bdi>/);
      const done = await stack().api.settled(run.run_id);
      assert.deepEqual([done.status, done.result], ['succeeded', { decision: 'approve' }]);
      const [receipt, ...more] = done.answers ?? [];
      assert.deepEqual(
        [receipt?.by, receipt?.channel, receipt?.answer, more],
        [{ kind: 'link', recipient: 'bob@acme.example' }, 'link', { decision: 'approve' }, []],
      );
      assert.match(await textOf(eve), /sent to <bdi>bob@acme\.example<\/bdi>\. 2 people agreed: /);
    });

    test('that is unknown or cut off gets one page', async () => {
      const run = await approve();
      const { token, url } = await linkTo(run);
      const plain = (text: string) => text.replaceAll(/nonce="[^"]*"/g, '');
      const unknown = plain(await textOf(url.replace(token, randomBytes(32).toString('base64url'))));
      assert.match(unknown, /There is no such link/);
      assert.equal(plain(await textOf(url.slice(0, -1))), unknown);
      await stack().api.cancel(run.run_id);
    });

    test('is answered by keyboard in a browser without JavaScript', { skip: noBrowser }, async () => {
      const run = await approve();
      const { url } = await linkTo(run);
      await using browser = await openSharedBrowser(chromium ?? '');
      const opened = browser.page.context().browser();
      assert.ok(opened);
      const context = await opened.newContext({ javaScriptEnabled: false });
      const page = await context.newPage();
      await page.goto(url);
      await page.getByRole('button', { name: 'Continue' }).press('Enter');
      const faults = page.getByRole('alert');
      await faults.getByRole('link', { name: 'Choose Approve or Reject.' }).waitFor();
      await page.getByRole('radio', { name: 'Reject' }).focus();
      await page.keyboard.press('Space');
      await page.getByLabel('Note').focus();
      await page.keyboard.type('Too late.');
      await page.getByRole('button', { name: 'Continue' }).press('Enter');
      await page.getByRole('heading', { name: 'Check your answer: Reject' }).waitFor();
      await page.getByRole('button', { name: 'Send answer' }).press('Enter');
      await page.getByText('Sent: Reject').waitFor();
      const done = await stack().api.settled(run.run_id);
      assert.deepEqual([done.result?.refunded, done.result?.note], [false, 'Too late.']);
      await context.close();
    });

    for (const colorScheme of ['light', 'dark'] as const) {
      test(`has accessible pages that run only their own script, ${colorScheme}`, { skip: noBrowser }, async () => {
        const run = await approve();
        const { url } = await linkTo(run);
        await using browser = await openSharedBrowser(chromium ?? '');
        const { page } = browser;
        await page.emulateMedia({ colorScheme });
        const isAccessible = async (state: string) => {
          assert.deepEqual(await brokenRules(page), [], state);
          const { scrollWidth, clientWidth } = await page
            .locator('html')
            .evaluate((html) => ({ scrollWidth: html.scrollWidth, clientWidth: html.clientWidth }));
          assert.ok(scrollWidth <= clientWidth, `${state} scrolls sideways`);
        };
        // As wide as a window of 640 px at twice the size.
        await page.setViewportSize({ width: 320, height: 640 });
        await page.goto(url);
        await isAccessible('the form');
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByRole('alert').waitFor();
        assert.equal(await page.getByRole('alert').evaluate((alert) => alert.matches(':focus')), true);
        await isAccessible('with faults');
        await page.getByText('Approve', { exact: true }).click();
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByRole('heading', { name: 'Check your answer: Approve' }).waitFor();
        await isAccessible('to confirm');
        await page.getByRole('button', { name: 'Send answer' }).click();
        await page.getByText('Sent: Approve').waitFor();
        await isAccessible('sent');
        await page.goto(url);
        await isAccessible('used');
        assert.deepEqual(
          browser.complaints.filter((text) => !text.includes('status of 422')),
          [],
        );
        assert.deepEqual([...new Set(browser.requested)], [url]);
      });
    }
  });
}
