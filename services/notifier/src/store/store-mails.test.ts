import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { newId, newRunId, type OrgId } from '@methods/base/ids';
import { type NotifierDatabase, notifierDatabase, planned } from '../../test/notifier-database.fixture.ts';
import type { RecipientMail } from '../email/announce.ts';
import { digestParts, MAILS_AN_HOUR, storeMails } from './store-mails.ts';

let database: NotifierDatabase;
before(async () => {
  database = await notifierDatabase();
});
after(() => database[Symbol.asyncDispose]());

const announced = (orgId: OrgId, seq = 1) => ({
  ...planned({ orgId, runId: newRunId(seq), seq, kind: 'mail', url: 'mailto:', host: 'mailto:' }),
  claim: 'c',
  tries: 1,
  resentFrom: null,
});

function mail(orgId: OrgId, recipient: string): RecipientMail {
  const [body, digestBody] = [Buffer.from('{"single":1}'), Buffer.from('{"digest":1}')];
  const questionId = newId('q');
  const linked = {
    orgId,
    runId: newRunId(1),
    questionId,
    recipient,
    userId: '',
    tokenSha256: randomBytes(32),
  } as const;
  return {
    recipient,
    url: `mailto:${recipient}`,
    body,
    digestBody,
    digestPart: JSON.stringify({ questionId }),
    link: { ...linked, endpointId: '', expiresAtMs: Date.now() + 60_000 },
  };
}

async function rowsOf(orgId: OrgId) {
  return database.sql<{ delivery_id: `dlv_${string}`; body: string; later: boolean }[]>`
    select delivery_id, convert_from(body, 'UTF8') as body, due_at > clock_timestamp() + interval '50 minutes' as later
    from notifier.deliveries where org_id = ${orgId}`;
}

async function storeMany(orgId: OrgId, recipient: string, count: number) {
  for (let seq = 1; seq <= count; seq++) {
    await storeMails(database.sql, announced(orgId, seq), [mail(orgId, recipient)], Date.now());
  }
}

test('a person’s mails beyond 20 become one at the end of the hour, with at most 51 of its questions', async () => {
  const orgId = newId('org');
  await storeMany(orgId, 'ada@example.com', MAILS_AN_HOUR.recipient + 60);
  const rows = await rowsOf(orgId);
  assert.equal(rows.length, MAILS_AN_HOUR.recipient + 1);
  const [digest, ...others] = rows.filter(({ body }) => body.includes('digest'));
  assert.ok(digest?.later);
  assert.equal(others.length, 0);
  assert.equal((await digestParts(database.sql, orgId, digest.delivery_id)).length, 51);
  // An hour later they get single mails again.
  await database.sql`update notifier.mail_counts set since = since - interval '1 hour' where org_id = ${orgId}`;
  const stored = await storeMails(database.sql, announced(orgId, 999), [mail(orgId, 'ada@example.com')], Date.now());
  assert.deepEqual(stored, { single: 1, gathered: 0 });
});

test('what is collected after a digest was sent is in the next one', async () => {
  const orgId = newId('org');
  await storeMany(orgId, 'ada@example.com', MAILS_AN_HOUR.recipient + 1);
  await database.sql`
    update notifier.deliveries set status = 'delivered', ended_at = now() where org_id = ${orgId} and due_at > now() + interval '1 minute'`;
  const next = await storeMails(database.sql, announced(orgId, 500), [mail(orgId, 'ada@example.com')], Date.now());
  assert.deepEqual(next, { single: 0, gathered: 1 });
  const digests = (await rowsOf(orgId)).filter(({ body }) => body.includes('digest'));
  assert.equal(digests.length, 2);
  for (const { delivery_id: id } of digests) assert.equal((await digestParts(database.sql, orgId, id)).length, 1);
});

test('an organization’s flood combines the mails of all its people, and none of another organization', async () => {
  const [orgId, other] = [newId('org'), newId('org')];
  await database.sql`
    insert into notifier.mail_counts (org_id, recipient, mails) values (${orgId}, '', ${MAILS_AN_HOUR.organization})`;
  const both = [mail(orgId, 'ada@example.com'), mail(orgId, 'ben@example.com')];
  assert.deepEqual(await storeMails(database.sql, announced(orgId), both, Date.now()), { single: 0, gathered: 2 });
  const theirs = [mail(other, 'ada@example.com')];
  assert.deepEqual(await storeMails(database.sql, announced(other), theirs, Date.now()), { single: 1, gathered: 0 });
});

test('a repeated announcement stores no mail and counts none a second time', async () => {
  const orgId = newId('org');
  const one = announced(orgId);
  const mails = [mail(orgId, 'ada@example.com'), mail(orgId, 'ben@example.com')];
  await storeMails(database.sql, one, mails.slice(0, 1), Date.now());
  assert.deepEqual(await storeMails(database.sql, one, mails, Date.now()), { single: 1, gathered: 0 });
  assert.deepEqual(await storeMails(database.sql, one, mails, Date.now()), { single: 0, gathered: 0 });
  assert.equal((await rowsOf(orgId)).length, 2);
  const [count] = await database.sql<{ mails: number }[]>`
    select mails from notifier.mail_counts where org_id = ${orgId} and recipient = ''`;
  assert.equal(count?.mails, 2);
});

test('concurrent announcements for the same people in different orders all complete', async () => {
  const orgId = newId('org');
  const people = ['ada@example.com', 'ben@example.com', 'cleo@example.com'];
  await Promise.all(
    Array.from({ length: 30 }, (_, n) => {
      const order = n % 2 ? people : people.toReversed();
      return storeMails(
        database.sql,
        announced(orgId, n + 1),
        order.map((name) => mail(orgId, name)),
        Date.now(),
      );
    }),
  );
  assert.equal((await rowsOf(orgId)).length, (MAILS_AN_HOUR.recipient + 1) * people.length);
});
