// The buttons of chat messages, through a whole notifier.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { newId, newRunId, type OrgId } from '@methods/base/ids';
import { LinkService, LinkState } from '@methods/proto/notifier/v1/link_service_pb';
import { NotifierService } from '@methods/proto/notifier/v1/notifier_service_pb';
import { rpcClient } from '@methods/rpc/client';
import { until } from '@methods/test/harness/until';
import { url } from '../test/deliveries.fixture.ts';
import { type NotifierStack, notifierStack, succeeded } from '../test/notifier-stack.fixture.ts';
import { inTurn, type Receiver, receiver, status } from '../test/receiver.fixture.ts';
import type { Notifier } from './composition.ts';

const LINK_KEY = Buffer.alloc(32, 9).toString('base64');
const PUBLIC_URL = 'https://methods.example';

let stack: NotifierStack;
let notifier: Notifier;
before(async () => {
  stack = await notifierStack();
  notifier = await stack.notifier({ LINK_KEY, PUBLIC_URL });
});
after(async () => {
  await notifier.stop();
  await stack[Symbol.asyncDispose]();
});

function listen(orgId: OrgId, port: number, format: 'slack' | 'teams' = 'slack'): void {
  const endpoint = { endpointId: newId('ep'), name: 'Desk', format, url: url(port), paused: false, secret: '' };
  stack.setEndpoints(orgId, [
    { ...endpoint, events: ['needs_input', 'question.reminded'], earlier: [], changedAtMs: 1 },
  ]);
}

const questionId = newId('q');
function asked(orgId: OrgId, more: object = {}, event = 'needs_input') {
  const question = { id: questionId, step: 'approve', prompt: 'Approve?', show: [], formJson: '{}', ...more };
  const runId = newRunId(0);
  return succeeded('', { orgId, runId, event, resultJson: '', question } as never);
}

const ended = (orgId: OrgId, count: number) =>
  until('all deliveries ended', async () => {
    const rows = await stack.database.sql`
      select status from notifier.deliveries where org_id = ${orgId} and status <> 'pending'`;
    return rows.length === count;
  });

function buttonsOf({ requests }: Receiver): string[] {
  return requests.map(({ rawBody }) => {
    const { blocks, attachments } = JSON.parse(rawBody.toString());
    return blocks === undefined ? attachments[0].content.actions[0]?.url : blocks.at(-1).elements?.[0]?.url;
  });
}

const linksOf = (orgId: OrgId) => stack.database.sql`
  select token_sha256, recipient, user_id, question_id from notifier.answer_links where org_id = ${orgId}`;

test('a question that anyone may answer has the same link at every try, and nothing stored has its token', async () => {
  // The chat's host echoes the message, and the recorded answer is cut in the last KiB.
  const echo = inTurn(
    status(500),
    (_request, response) => {
      const [button = ''] = buttonsOf(server).slice(-1);
      response.writeHead(500).end(`${button} ${'x'.repeat(700)} ${button} ${'y'.repeat(190)} ${button}`);
    },
    status(200),
  );
  await using server = await receiver(echo);
  const orgId = newId('org');
  listen(orgId, server.port);
  await stack.emit(asked(orgId));
  await ended(orgId, 1);
  await stack.emit(asked(orgId, {}, 'question.reminded'));
  await ended(orgId, 2);
  const buttons = new Set(buttonsOf(server));
  assert.equal(server.requests.length, 4);
  assert.equal(buttons.size, 1);
  const [, token = ''] = /^https:\/\/methods\.example\/a\/([A-Za-z0-9_-]{43})$/.exec([...buttons][0] ?? '') ?? [];
  const tokenSha256 = createHash('sha256').update(token).digest();
  assert.deepEqual(
    (await linksOf(orgId)).map((row) => ({ ...row, token_sha256: row.token_sha256.toString('hex') })),
    [{ token_sha256: tokenSha256.toString('hex'), recipient: 'Desk', user_id: '', question_id: questionId }],
  );
  const links = rpcClient(LinkService, `127.0.0.1:${notifier.port}`);
  const { link } = await links.openLink({ tokenSha256 });
  assert.deepEqual([link?.state, link?.recipient], [LinkState.OPEN, 'Desk']);
  links.close();

  const [dump] = await stack.database.sql<{ text: string }[]>`
    select (select string_agg(d::text || convert_from(d.body, 'UTF8'), '') from notifier.deliveries d where org_id = ${orgId})
      || (select string_agg(t::text, '') from notifier.delivery_tries t where org_id = ${orgId})
      || (select string_agg(l::text, '') from notifier.answer_links l where org_id = ${orgId}) as text`;
  assert.ok(dump?.text.includes('xxx') && !dump.text.includes(token.slice(0, 6)), dump?.text);
  const calls = rpcClient(NotifierService, `127.0.0.1:${notifier.port}`);
  assert.ok(!JSON.stringify(await calls.listDeliveries({ orgId })).includes(token.slice(0, 6)));
  calls.close();
});

test('a question with rules about people links to its page, which requires sign-in', async () => {
  await using server = await receiver(status(200));
  const policies = [{ to: ['ada@example.com'] }, { notStarter: true }, { needs: 2 }];
  for (const [n, policy] of policies.entries()) {
    const orgId = newId('org');
    listen(orgId, server.port, n === 0 ? 'teams' : 'slack');
    await stack.emit(asked(orgId, { policy }));
    await ended(orgId, 1);
    assert.equal((await linksOf(orgId)).length, 0);
  }
  const signIn = `${PUBLIC_URL}/questions/${questionId}`;
  assert.deepEqual(buttonsOf(server), [signIn, signIn, signIn]);
});

test('a question that is only reminded, or answers itself at its deadline, has a link', async () => {
  await using server = await receiver(status(200));
  const orgId = newId('org');
  listen(orgId, server.port);
  await stack.emit(asked(orgId, { policy: { remindMs: [60_000], timeoutAnswerJson: '{}' } }));
  await ended(orgId, 1);
  assert.match(buttonsOf(server)[0] ?? '', /\/a\//);
});

test('a removed endpoint leaves no link that answers, and another one of its name has another link', async () => {
  await using server = await receiver(status(200));
  const orgId = newId('org');
  listen(orgId, server.port);
  await stack.emit(asked(orgId));
  await ended(orgId, 1);
  const links = rpcClient(LinkService, `127.0.0.1:${notifier.port}`);
  const stateOf = async (url = '') => {
    const tokenSha256 = createHash('sha256').update(url.slice(-43)).digest();
    return (await links.openLink({ tokenSha256 })).link?.state;
  };
  const [removed] = buttonsOf(server);
  assert.equal(await stateOf(removed), LinkState.OPEN);
  // As after a removal: the registry knows only the new one.
  listen(orgId, server.port);
  await until('the removal is known', async () => (await stateOf(removed)) === LinkState.ENDED);
  await stack.emit(asked(orgId, {}, 'question.reminded'));
  await ended(orgId, 2);
  assert.deepEqual([await stateOf(removed), await stateOf(buttonsOf(server)[1])], [LinkState.ENDED, LinkState.OPEN]);
  links.close();
});
