// A question reaches the people who answer it: by mail, in the Inbox and in chats. `methods runs show` names the person who
// answered, and the way. Pages are used in a browser that runs no scripts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { RunBody } from '../e2e/api-client.ts';
import { person, sessionOf } from '../e2e/people.ts';
import {
  answerOnPage,
  followMailedLink,
  noBrowser,
  openScriptlessBrowser,
  type ScriptlessBrowser,
} from '../e2e/scriptless-browser.ts';
import type { Stack } from '../e2e/stack.ts';
import { WebhookReceiver } from '../e2e/webhook-receiver.ts';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';
import { type StackDesk, stackDesk } from './stack-desk.ts';

const receiver = new WebhookReceiver();
let stack: Stack;
let desk: StackDesk;
let browser: ScriptlessBrowser;

before(async () => {
  await receiver.start();
  stack = await commonStack();
  desk = await stackDesk(stack);
  if (noBrowser === false) browser = await openScriptlessBrowser();
});
after(async () => {
  await browser?.[Symbol.asyncDispose]();
  await desk?.folder.remove();
  await receiver.stop();
});

const methods = (...args: string[]) => desk.folder.quick(args, desk.env);

/** A run that waits, with the prompt by which its mails are known. */
async function asked(orderId: string): Promise<{ run: RunBody; prompt: string }> {
  const inputs = { order_id: orderId, amount: 250 };
  const run = await stack.api.startSettled({ method: stack.method('approve'), inputs });
  return { run, prompt: `Refund 250 EUR to ${orderId}@example.com?` };
}

/** The line of the run's receipt. */
async function receiptOf(runId: string): Promise<string> {
  await stack.api.settled(runId);
  const { stdout } = await methods('runs', 'show', runId);
  return /^approval: .*$/m.exec(stdout)?.[0] ?? stdout;
}

test('a mail is read in the mailbox and answered by its link, once', { skip: noBrowser }, async () => {
  const { run, prompt } = await asked('ord_mail');
  const { page } = browser;
  const { mail_url: mailUrl, mail_to: address } = stack.ready;
  assert.ok(mailUrl !== null && address !== null);
  await followMailedLink(page, mailUrl, address, prompt);
  await answerOnPage(page, 'Approve', 'Read on the train.');
  assert.match(
    await receiptOf(run.run_id),
    /^approval: answered by Admin \(admin@local\.example\) through a link, .*, \{"decision":"approve",/,
  );
  await page.goto(page.url());
  await page.getByText(`Answered: Approve`).waitFor();
  await page.getByText(`through the link sent to ${address}. Read on the train.`).waitFor();
});

test('a delegate gets a mail of their own, and answers by its link', { skip: noBrowser }, async () => {
  const { run, prompt } = await asked('ord_delegated');
  const { page } = browser;
  const { mail_url: mailUrl } = stack.ready;
  assert.ok(mailUrl !== null);
  const address = 'dana.delegate@example.com';
  // Their first request makes them a member.
  const dana = await person(stack, { email: address, role: 'viewer' });
  await dana.request('GET', '/api/whoami');
  const questionId = run.question?.id ?? '';
  const delegated = await methods('inbox', 'delegate', questionId, address);
  assert.match(delegated.stdout, /^dana\.delegate@example\.com may answer q_\w{26} now, and it is given to them\.$/m);
  await followMailedLink(page, mailUrl, address, prompt);
  await answerOnPage(page, 'Reject', 'Not for this customer.');
  assert.match(
    await receiptOf(run.run_id),
    /^approval: answered by Dana Delegate \(dana\.delegate@example\.com\) through a link, .*\{"decision":"reject",/,
  );
  assert.match((await methods('runs', 'show', run.run_id)).stdout, /^ +Not for this customer\.$/m);
  const { stdout: shown } = await methods('inbox', 'show', questionId);
  assert.match(shown, /^ {2}delegated by Developer .* to Dana Delegate /m);
});

test('in the Inbox it is listed until a person answers it by command or API', async () => {
  const [first, second] = [await asked('ord_cli'), await asked('ord_api')];
  const ids = { first: first.run.question?.id ?? '', second: second.run.question?.id ?? '' };
  const { stdout: listed } = await methods('inbox');
  assert.ok(listed.includes(ids.first) && listed.includes(ids.second), listed);
  const answer = '{"decision": "reject"}';
  assert.equal((await methods('inbox', 'answer', ids.first, '--answer', answer)).code, 0);
  assert.match(
    await receiptOf(first.run.run_id),
    /^approval: answered by Developer \(developer@example\.com\) on the command line, .*"reject"/,
  );
  const session = await sessionOf(stack, { email: 'ina.inbox@example.com', role: 'member' });
  const reply = await fetch(`${stack.ready.base_url}/api/questions/${ids.second}/answer`, {
    method: 'POST',
    headers: {
      cookie: `workflow_session=${session}`,
      origin: stack.ready.base_url,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ answer: { decision: 'approve' } }),
  });
  assert.equal(reply.status, 200);
  assert.match(
    await receiptOf(second.run.run_id),
    /^approval: answered by Ina Inbox \(ina\.inbox@example\.com\) in the Inbox, .*"approve"/,
  );
  const { stdout: left } = await methods('inbox');
  assert.ok(!left.includes(ids.first) && !left.includes(ids.second), left);
});

for (const format of ['slack', 'teams'] as const) {
  test(`the button of a message in ${format} leads to the page that answers it`, { skip: noBrowser }, async () => {
    const args = ['create', '--name', `On ${format}`, '--format', format, '--url', receiver.url(`/${format}`)];
    const { stdout: made } = await methods('endpoints', ...args, '--event', 'needs_input');
    const { run, prompt } = await asked(`ord_${format}`);
    const url = await until(`a message in ${format}`, () => {
      const message = receiver.to(`/${format}`).find(({ raw }) => raw.includes(prompt));
      return message === undefined ? null : buttonOf(message.body);
    });
    assert.ok(url.startsWith(`${stack.ready.base_url}/a/`), url);
    await browser.page.goto(url);
    await answerOnPage(browser.page, 'Reject');
    assert.match(
      await receiptOf(run.run_id),
      new RegExp(`^approval: answered by On ${format} through the button of a chat, .*"reject"`),
    );
    assert.equal((await methods('endpoints', 'delete', /ep_\w{26}/.exec(made)?.[0] ?? made)).code, 0);
  });
}

test('an expired link leads to the sign-in and back to the question', { skip: noBrowser }, async () => {
  const { run, prompt } = await asked('ord_late');
  const { page } = browser;
  const { mail_url: mailUrl, mail_to: address, org_id: orgId } = stack.ready;
  assert.ok(mailUrl !== null && address !== null);
  await followMailedLink(page, mailUrl, address, prompt);
  await stack.sql`
    update notifier.answer_links set expires_at = now() - interval '1 second'
    where org_id = ${orgId} and run_id = ${run.run_id}`;
  await page.reload();
  await page.getByText('This link has expired.').waitFor();
  assert.equal(await page.getByRole('radio').count(), 0);
  await page.getByRole('link', { name: 'Sign in to answer it' }).click();
  await page.getByLabel('E-mail').fill('grace.hopper@example.com');
  await page.getByLabel('Role').selectOption('member');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: prompt }).waitFor();
  assert.equal(page.url(), `${stack.ready.base_url}/questions/${run.question?.id}`);
  await answerOnPage(page, 'Approve');
  assert.match(
    await receiptOf(run.run_id),
    /^approval: answered by Grace Hopper \(grace\.hopper@example\.com\) in the Inbox, .*"approve"/,
  );
  await page.goto(page.url());
  await page.getByText('by Grace Hopper.').waitFor();
});

test('a viewer who signs in reads the question and may not answer it', { skip: noBrowser }, async () => {
  const { run, prompt } = await asked('ord_view');
  const { page } = browser;
  await page.context().clearCookies();
  await page.goto(`${stack.ready.base_url}/questions/${run.question?.id}`);
  await page.getByLabel('E-mail').fill('vic.viewer@example.com');
  await page.getByLabel('Role').selectOption('viewer');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: prompt }).waitFor();
  await page.getByText('You may not answer this question. Viewers answer only').waitFor();
  assert.equal(await page.getByRole('radio').count(), 0);
  assert.equal((await stack.api.get(run.run_id)).run.status, 'waiting');
  const stranger = await person(stack, { email: 'stan@elsewhere.example', role: 'admin', organization: 'Elsewhere' });
  assert.equal((await stranger.request('GET', `/api/questions/${run.question?.id}`)).status, 404);
  await stack.api.cancel(run.run_id);
});

/** Where a message leads in its chat. */
function buttonOf(message: object): string | null {
  const [, url = null] = /"url":"([^"]+)"/.exec(JSON.stringify(message)) ?? [];
  return url;
}
