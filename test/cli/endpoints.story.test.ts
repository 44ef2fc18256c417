// Endpoints from the command line: made, rotated, paused, deleted, and what was sent to them sent again. Against a local
// stack.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Stack } from '../e2e/stack.ts';
import { WebhookReceiver } from '../e2e/webhook-receiver.ts';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';
import { LossyServer } from './lossy-server.ts';
import { type StackDesk, stackDesk } from './stack-desk.ts';

interface Listed<Item> {
  readonly items: readonly Item[];
}

let stack: Stack;
let desk: StackDesk;
const receiver = new WebhookReceiver();
const endpoints = (...args: string[]) => desk.folder.quick(['endpoints', ...args], desk.env);
const json = async <T>(...args: string[]) =>
  (await desk.folder.quickJson<T>(['endpoints', ...args], desk.env)).document;

before(async () => {
  await receiver.start();
  stack = await commonStack();
  desk = await stackDesk(stack);
});
after(async () => {
  await desk?.folder.remove();
  await receiver.stop();
});

test('an endpoint is made, rotated, paused and deleted, and its secret is printed once', async () => {
  const made = await endpoints('create', '--name', 'Desk', '--url', receiver.url('/desk'), '--event', 'failed');
  assert.equal(made.code, 0, made.stderr);
  const [, id = ''] = /^Made the endpoint "Desk" \((ep_\w{26})\) for failed\.\n/.exec(made.stdout) ?? [];
  assert.match(made.stdout, /^WEBHOOK_SECRET=whsec_\w{43}$/m);
  const { stdout: listed } = await endpoints('list');
  assert.match(listed, new RegExp(`^ID +FORMAT +EVENTS +URL +NAME\n[\\s\\S]*${id} +webhook +failed .* Desk\n`));
  assert.equal(listed.includes('whsec_'), false);
  assert.match((await endpoints('rotate', id, '--overlap', '2h')).stdout, /The earlier one signs too until \d{4}-/);
  assert.match((await endpoints('rotate', id, '--overlap', '0')).stdout, /Earlier ones sign no more\.\n[\s\S]*whsec_/);
  assert.match((await endpoints('pause', id)).stdout, /is paused/);
  assert.match((await endpoints('list')).stdout, new RegExp(`${id} +paused`));
  assert.match((await endpoints('resume', id)).stdout, /gets events again/);
  assert.equal((await endpoints('delete', id)).code, 0);
  const gone = await endpoints('delete', id);
  assert.deepEqual([gone.code, gone.stderr.split('\n')[0]], [1, 'error: There is no such endpoint']);
});

test('the message of a chat is refused by its host, listed with the answer, and sent again', async () => {
  receiver.answers = (path, n) => (path === '/chat' && n === 1 ? 410 : 204);
  const url = receiver.url('/chat');
  const { endpoint } = await json<{ endpoint: { id: string; events: string[] } }>(
    ...['create', '--name', 'Chat', '--format', 'slack', '--url', url],
  );
  assert.deepEqual(endpoint.events, ['needs_input', 'question.reminded', 'question.escalated', 'failed']);
  await stack.api.startSettled({ method: stack.method('two-questions') });
  const stopped = await until('it is refused', async () => {
    const page = await json<Listed<{ id: string }>>('deliveries', '--endpoint', endpoint.id, '--status', 'stopped');
    return page.items[0];
  });
  const { stdout } = await endpoints('deliveries', '--endpoint', endpoint.id);
  assert.match(stdout, new RegExp(`${stopped.id} +\\S+ \\S+ +stopped +1 +410 +needs_input +run_`));
  assert.equal((await endpoints('resend', stopped.id)).stdout, '1 delivery is sent again\n');
  await until('it is sent again', () => receiver.to('/chat').length === 2);
  await until('it is delivered', async () => {
    const page = await json<Listed<unknown>>('deliveries', '--endpoint', endpoint.id, '--status', 'delivered');
    return page.items.length === 1;
  });
  const none = await endpoints('deliveries', '--endpoint', endpoint.id, '--status', 'exhausted');
  assert.equal(none.stderr, 'There are no such deliveries.\n');
  const all = await endpoints('resend', '--status', 'delivered', '--endpoint', endpoint.id);
  assert.equal(all.stdout, '1 delivery is sent again\n');
  await endpoints('delete', endpoint.id);
});

test('an endpoint or a secret whose reply is lost may exist, and the hint says how to continue', async () => {
  const lossy = await LossyServer.start(stack.ready.base_url);
  const there = await stackDesk(stack, lossy.url);
  const call = (...args: string[]) => there.folder.quick(['endpoints', ...args], there.env);
  lossy.fate = 'broken';
  const { code, stderr } = await call('create', '--name', 'Lost', '--url', receiver.url('/lost'));
  assert.equal(code, 1);
  assert.match(stderr, /^hint: try again; if {2}methods endpoints list {2}shows "Lost", it was made: /m);
  const { items } = await json<Listed<{ id: string; name: string }>>('list');
  const { id = '' } = items.find(({ name }) => name === 'Lost') ?? {};
  assert.match((await call('rotate', id)).stderr, /^hint: run it again: the secret may have been replaced/m);
  await endpoints('delete', id);
  await there.folder.remove();
  await lossy.stop();
});

test('wrong usage says what is missing', async () => {
  for (const [args, message] of [
    [['make'], /endpoints cannot "make"/],
    [['create', '--name', 'Desk'], /needs --name NAME and --url URL/],
    [['create', '--name', 'Desk', '--url', 'https://x.example', '--event', 'end'], /--event cannot be "end"/],
    [['create', '--name', 'Desk', '--url', 'https://x.example', '--format', 'irc'], /--format cannot be "irc"/],
    [['rotate'], /needs one ENDPOINT_ID/],
    [['rotate', 'whsec_secret'], /an endpoint is named by its id/],
    [['rotate', 'ep_00000000000000000000000000', '--overlap', 'long'], /--overlap is a time/],
    [['list', '--status', 'exhausted'], /endpoints list has no option --status/],
    [['list', '--event', 'failed'], /endpoints list has no option --event/],
    [['resend'], /needs DELIVERY_IDs, or --status/],
    [['resend', 'run_1'], /a delivery is named by its id/],
  ] as const) {
    const { code, stderr } = await endpoints(...args);
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, message);
    assert.ok(!stderr.includes('whsec_secret'));
  }
});
