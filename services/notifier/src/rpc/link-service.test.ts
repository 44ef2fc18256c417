import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { type EndpointId, newId, newRunId, type OrgId, type UserId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import { LinkService, LinkState } from '@methods/proto/notifier/v1/link_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';
import { RpcServer } from '@methods/rpc/server';
import { type NotifierDatabase, notifierDatabase } from '../../test/notifier-database.fixture.ts';
import { linkExpiresAtMs, type NewLink } from '../answer-link/answer-link.ts';
import { endLinks, storeLinks } from '../store/answer-links.ts';
import { linkService } from './link-service.ts';

const DAY_MS = 86_400_000;

let database: NotifierDatabase;
let server: RpcServer;
let client: Client<typeof LinkService>;
const removed = new Set<EndpointId>();
let access: (orgId: OrgId, userId: UserId) => Promise<boolean> = async () => true;

before(async () => {
  database = await notifierDatabase();
  const hasAccess = (orgId: OrgId, userId: UserId) => access(orgId, userId);
  const hasEndpoint = async (_: OrgId, endpointId: EndpointId) => !removed.has(endpointId);
  const services = [linkService({ sql: database.sql, clock: systemClock, hasAccess, hasEndpoint })];
  server = new RpcServer({ listen: '127.0.0.1:0', services, logger: silentLogger, graceMs: 100 });
  await server.start();
  client = rpcClient(LinkService, `127.0.0.1:${server.port}`);
});
after(async () => {
  client.close();
  await server.stop();
  await database[Symbol.asyncDispose]();
});

async function stored(fields: Partial<NewLink> = {}): Promise<NewLink> {
  const [orgId, questionId] = [newId('org'), newId('q')];
  const recipient = 'ada@example.com';
  const link: NewLink = {
    orgId,
    tokenSha256: randomBytes(32),
    runId: newRunId(1),
    questionId,
    recipient,
    userId: newId('usr'),
    endpointId: '',
    expiresAtMs: Date.now() + DAY_MS,
    ...fields,
  };
  await storeLinks(database.sql, [link]);
  return link;
}

const stateOf = async ({ tokenSha256 }: NewLink) => (await client.openLink({ tokenSha256 })).link?.state;

test('a link opens its own question, any number of times', async () => {
  const link = await stored();
  const { tokenSha256, endpointId: _, ...expected } = link;
  for (let n = 0; n < 3; n++) {
    const { link: opened } = await client.openLink({ tokenSha256 });
    assert.deepEqual(
      { ...opened },
      { ...opened, ...expected, state: LinkState.OPEN, usedAtMs: 0, expiresAtMs: link.expiresAtMs },
    );
  }
});

test('an unknown hash, and bytes of another length, open nothing', async () => {
  for (const tokenSha256 of [randomBytes(32), randomBytes(31), new Uint8Array(), randomBytes(1_000)]) {
    for (const call of [client.openLink({ tokenSha256 }), client.useLink({ tokenSha256 })]) {
      await assert.rejects(call, (error) => error instanceof ServiceError && error.code === 'not_found');
    }
  }
});

test('a link is used once, and stays used when its question ends', async () => {
  const link = await stored();
  const first = (await client.useLink(link)).link;
  assert.equal(first?.state, LinkState.USED);
  assert.ok(first.usedAtMs > Date.now() - DAY_MS);
  assert.equal((await client.useLink(link)).link?.usedAtMs, first.usedAtMs);
  await endLinks(database.sql, [link]);
  assert.equal(await stateOf(link), LinkState.USED);
});

test('the end of a question ends all its links, and those of no other', async () => {
  const closed = await stored();
  const other = { orgId: closed.orgId, runId: closed.runId };
  const more = await stored({ ...other, questionId: closed.questionId, recipient: 'ben@example.com' });
  const next = await stored({ ...other, recipient: 'ben@example.com' });
  await endLinks(database.sql, [{ ...closed, orgId: newId('org') }]);
  assert.equal(await stateOf(closed), LinkState.OPEN, 'the question of another organization');
  await endLinks(database.sql, [closed]);
  assert.deepEqual(await Promise.all([closed, more, next].map(stateOf)), [
    LinkState.ENDED,
    LinkState.ENDED,
    LinkState.OPEN,
  ]);
  assert.equal((await client.useLink(more)).link?.usedAtMs, 0, 'an ended link is not used');
});

test('a link expires at the deadline of its question, or after seven days without one', async () => {
  assert.equal(linkExpiresAtMs(1_000, 400), 1_000);
  assert.equal(linkExpiresAtMs(0, 400), 400 + 7 * DAY_MS);
  const link = await stored({ expiresAtMs: Date.now() - 1 });
  assert.equal(await stateOf(link), LinkState.EXPIRED);
  await storeLinks(database.sql, [{ ...link, expiresAtMs: Date.now() + DAY_MS }]);
  assert.equal(await stateOf(link), LinkState.OPEN, 'a reminder opens it for longer');
  await storeLinks(database.sql, [{ ...link, expiresAtMs: Date.now() - 1 }]);
  assert.equal(await stateOf(link), LinkState.OPEN, 'a late repeat does not shorten it');
});

test('the link of a member without access has ended; the link of a chat has no member', async (t) => {
  const asked: string[] = [];
  access = async (_, userId) => {
    asked.push(userId);
    return false;
  };
  t.after(() => {
    access = async () => true;
  });
  const [mail, chat] = [await stored(), await stored({ userId: '', recipient: 'ops channel' })];
  assert.deepEqual([await stateOf(mail), await stateOf(chat)], [LinkState.ENDED, LinkState.OPEN]);
  assert.deepEqual(asked, [mail.userId]);
});

test('the links of a chat end when its endpoint is removed, and those of other chats do not', async () => {
  const ofChat = { userId: '', recipient: 'ops channel' } as const;
  const [gone, kept] = [newId('ep'), newId('ep')];
  const links = [
    await stored({ ...ofChat, endpointId: gone }),
    await stored({ ...ofChat, endpointId: kept }),
    await stored(ofChat),
  ];
  removed.add(gone);
  const states = await Promise.all(links.map(stateOf));
  assert.deepEqual(states, [LinkState.ENDED, LinkState.OPEN, LinkState.OPEN]);
});

test('links that expired a month ago are deleted as others are created', async () => {
  const old = await stored({ expiresAtMs: Date.now() - 31 * DAY_MS });
  const lately = await stored({ expiresAtMs: Date.now() - 29 * DAY_MS });
  assert.equal(await stateOf(lately), LinkState.EXPIRED);
  await assert.rejects(stateOf(old));
});
