import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId, newRunId } from '@methods/base/ids';
import {
  claimRequest,
  type NotifierDatabase,
  notifierDatabase,
  planned,
} from '../../test/notifier-database.fixture.ts';
import { rowsRead } from '../../test/rows-read.fixture.ts';
import type { ClaimedDelivery, DeliveryTry } from '../delivery/delivery.ts';
import { claimDeliveries, resendDeliveries } from './claim-deliveries.ts';
import type { ClaimRequest } from './claim-statement.ts';
import { getDelivery, listDeliveries, pageStatement, triesStatement } from './list-deliveries.ts';
import { recordTries } from './record-tries.ts';
import { storeDeliveries } from './store-deliveries.ts';

let database: NotifierDatabase;
before(async () => {
  database = await notifierDatabase();
});
after(() => database[Symbol.asyncDispose]());

const ALL = { runId: null, endpointId: null, status: null, kind: null };

const result: DeliveryTry = {
  startedAtMs: 1_760_000_000_123,
  durationMs: 12,
  httpStatus: 500,
  error: '',
  answerStart: 'no',
};

async function freshTables(): Promise<void> {
  await database.sql`truncate notifier.deliveries, notifier.due_hosts, notifier.due_organizations cascade`;
}

async function claim(fields: Partial<ClaimRequest> = {}): Promise<readonly ClaimedDelivery[]> {
  return (await claimDeliveries(database.sql, claimRequest(fields))).claimed;
}

test('a stored delivery is returned complete when it is claimed', async () => {
  await freshTables();
  const delivery = planned({
    body: Buffer.from('{"t":"é \\u0000"}'),
    seq: 4_000_000_000,
    url: `https://hook.example/${'é'.repeat(2000)}`,
  });
  assert.equal(await storeDeliveries(database.sql, [delivery]), 1);
  const [claimed] = await claim({ claim: 'mine' });
  const { createdAtMs: _, ...expected } = delivery;
  assert.deepEqual(claimed, { ...expected, claim: 'mine', tries: 0, resentFrom: null });
  assert.deepEqual(await claim(), [], 'a claimed delivery belongs to one node');
});

test('a known run, seq and URL is ignored, also within one batch; another organization’s is not', async () => {
  await freshTables();
  const delivery = planned();
  const again = { ...delivery, deliveryId: newId('dlv'), body: Buffer.from('other') };
  assert.equal(await storeDeliveries(database.sql, [delivery, again]), 1);
  assert.equal(await storeDeliveries(database.sql, [again]), 0);
  assert.equal(await storeDeliveries(database.sql, [{ ...again, orgId: newId('org') }]), 1);
  assert.equal(
    await storeDeliveries(database.sql, [
      { ...again, seq: 2 },
      { ...again, deliveryId: newId('dlv'), url: 'https://b/' },
    ]),
    2,
  );
});

test('two nodes that store and claim at once neither deadlock nor share a delivery', async () => {
  await freshTables();
  const many = Array.from({ length: 200 }, (_, i) => planned({ seq: i + 1, host: `h${i % 40}` }));
  const reversed = [...many].reverse().map((each) => ({ ...each, deliveryId: newId('dlv') }));
  const [a, b] = await Promise.all([storeDeliveries(database.sql, many), storeDeliveries(database.sql, reversed)]);
  assert.equal(a + b, 200);
  const claims = await Promise.all(Array.from({ length: 8 }, () => claim()));
  const ids = claims.flat().map((each) => each.deliveryId);
  assert.ok(ids.length > 0);
  assert.equal(new Set(ids).size, ids.length);
});

test('first tries of a run follow the order of seq; a later one waits for the first try of the one before, not for its success', async () => {
  await freshTables();
  const run = { orgId: newId('org'), runId: newRunId(1) };
  await storeDeliveries(database.sql, [
    planned({ ...run, seq: 9 }),
    planned({ ...run, seq: 2 }),
    planned({ ...run, seq: 5 }),
  ]);
  const [first, ...none] = await claim();
  assert.deepEqual([first?.seq, none.length], [2, 0]);
  assert.ok(first);
  assert.deepEqual(await claim(), [], 'the second waits while the first is tried');
  await recordTries(database.sql, [{ delivery: first, after: { status: 'pending', waitMs: 60_000 }, result }]);
  const [second] = await claim();
  assert.equal(second?.seq, 5);
});

test('targets of a run wait only for themselves: a dead chat delays no webhook', async () => {
  await freshTables();
  const run = { orgId: newId('org'), runId: newRunId(1) };
  const chat = { ...run, url: '', kind: 'slack' as const, endpointId: newId('ep'), host: 'chat' };
  await storeDeliveries(database.sql, [
    planned({ ...chat, seq: 2 }),
    planned({ ...run, seq: 2 }),
    planned({ ...chat, seq: 5 }),
    planned({ ...run, seq: 5 }),
  ]);
  const first = await claim();
  assert.deepEqual(first.map(({ kind, seq }) => [kind, seq]).sort(), [
    ['slack', 2],
    ['webhook', 2],
  ]);
  const own = first.find(({ kind }) => kind === 'webhook');
  assert.ok(own);
  await recordTries(database.sql, [{ delivery: own, after: { status: 'delivered', waitMs: 0 }, result }]);
  assert.deepEqual(
    (await claim()).map(({ kind, seq }) => [kind, seq]),
    [['webhook', 5]],
  );
});

test('a delivery that the previous release made wait for another target is released with its run', async () => {
  await freshTables();
  const run = { orgId: newId('org'), runId: newRunId(1) };
  await storeDeliveries(database.sql, [
    planned({ ...run, seq: 2, url: '', kind: 'slack', endpointId: newId('ep'), host: 'chat' }),
    planned({ ...run, seq: 5 }),
  ]);
  await database.sql`update notifier.deliveries set waits = true where org_id = ${run.orgId} and seq = 5`;
  const [chat, ...none] = await claim();
  assert.deepEqual([chat?.kind, none.length], ['slack', 0]);
  assert.ok(chat);
  await recordTries(database.sql, [{ delivery: chat, after: { status: 'pending', waitMs: 60_000 }, result }]);
  assert.deepEqual(
    (await claim()).map(({ seq }) => seq),
    [5],
  );
});

test('a page is filtered by status, kind, endpoint and run, each and together', async () => {
  await freshTables();
  const orgId = newId('org');
  const endpointId = newId('ep');
  const stored = [
    planned({ orgId, url: '', kind: 'endpoint', endpointId }),
    planned({ orgId, url: '', kind: 'slack', endpointId: newId('ep') }),
    planned({ orgId }),
    planned({ orgId, url: '', kind: 'endpoint', endpointId }),
  ];
  // Ids of one millisecond have no order.
  for (const [n, one] of stored.entries()) stored[n] = { ...one, deliveryId: newId('dlv', 1_760_000_000_000 + n) };
  await storeDeliveries(database.sql, stored);
  await database.sql`
    update notifier.deliveries set status = 'exhausted', tries = 1, ended_at = now()
    where org_id = ${orgId} and delivery_id = any(${[0, 1].map((n) => stored[n]?.deliveryId ?? '')})`;
  const found = async (filter: Partial<Parameters<typeof listDeliveries>[1]>) => {
    const page = await listDeliveries(database.reader, { ...ALL, orgId, limit: 10, after: null, ...filter });
    return page.map(({ deliveryId }) => stored.findIndex((one) => one.deliveryId === deliveryId)).join('');
  };
  const runId = stored[3]?.runId ?? null;
  assert.deepEqual(
    await Promise.all([
      found({}),
      found({ status: 'exhausted' }),
      found({ kind: 'endpoint' }),
      found({ kind: 'endpoint', status: 'exhausted' }),
      found({ endpointId }),
      found({ endpointId, status: 'pending' }),
      found({ endpointId, kind: 'slack' }),
      found({ runId }),
      found({ runId, status: 'exhausted' }),
      found({ endpointId, limit: 1 }),
      found({ endpointId, after: stored[3]?.deliveryId ?? null }),
    ]),
    ['3210', '10', '30', '0', '30', '3', '', '3', '', '3', '0'],
  );
});

test('a delivery put back untried still precedes the later ones', async () => {
  await freshTables();
  const run = { orgId: newId('org'), runId: newRunId(1) };
  await storeDeliveries(database.sql, [planned({ ...run, seq: 1 }), planned({ ...run, seq: 2 })]);
  const [first] = await claim();
  assert.ok(first);
  await recordTries(database.sql, [{ delivery: first, after: { status: 'pending', waitMs: 60_000 }, result: null }]);
  assert.deepEqual(await claim(), []);
  assert.deepEqual(
    (await getDelivery(database.reader, first.orgId, first.deliveryId))?.tries,
    [],
    'and nothing was counted',
  );
});

test('an expired claim is due again, and the late result of the first node is refused', async () => {
  await freshTables();
  await storeDeliveries(database.sql, [planned()]);
  const [dead] = await claim({ claimMs: 0 });
  const [alive] = await claim();
  assert.ok(dead && alive && dead.deliveryId === alive.deliveryId);
  const late = { delivery: dead, after: { status: 'exhausted', waitMs: 0 } as const, result };
  assert.deepEqual(await recordTries(database.sql, [late]), new Set());
  const after = { status: 'delivered', waitMs: 0 } as const;
  const kept = await recordTries(database.sql, [{ delivery: alive, after, result: { ...result, httpStatus: 204 } }]);
  assert.deepEqual(kept, new Set([alive.deliveryId]));
  const record = await getDelivery(database.reader, alive.orgId, alive.deliveryId);
  assert.deepEqual([record?.status, record?.tries.length, record?.nextTryAtMs], ['delivered', 1, 0]);
});

test('what has arrived is delivered under a later claim too, unless another try was recorded', async () => {
  await freshTables();
  await storeDeliveries(database.sql, [planned()]);
  const [first] = await claim({ claimMs: 0 });
  const [second] = await claim({ claimMs: 0 });
  const [third] = await claim();
  assert.ok(first && second && third);
  const delivered = { after: { status: 'delivered', waitMs: 0 } as const, result: { ...result, httpStatus: 200 } };
  const failed = { delivery: third, after: { status: 'exhausted', waitMs: 0 } as const, result };
  assert.equal((await recordTries(database.sql, [{ delivery: second, ...delivered }])).size, 1);
  assert.equal((await recordTries(database.sql, [failed])).size, 0, 'it has ended');
  await resendDeliveries(database.sql, first.orgId, [first.deliveryId]);
  assert.equal((await recordTries(database.sql, [{ delivery: first, ...delivered }])).size, 0, 'it is sent again');
});

test('the next due time is returned as a wait', async () => {
  await freshTables();
  await storeDeliveries(database.sql, [planned()]);
  const [only] = await claim();
  assert.ok(only);
  await recordTries(database.sql, [{ delivery: only, after: { status: 'pending', waitMs: 59_000 }, result }]);
  const { nextDueMs } = await claimDeliveries(database.sql, claimRequest());
  assert.ok(nextDueMs !== null && nextDueMs > 20_000 && nextDueMs <= 59_000, String(nextDueMs));
});

test('tries are stored with all their fields', async () => {
  await freshTables();
  const delivery = planned();
  await storeDeliveries(database.sql, [delivery]);
  const unanswered = { ...result, httpStatus: 0, error: 'timeout', answerStart: '' };
  for (const each of [result, unanswered]) {
    const [claimed] = await claim();
    assert.ok(claimed);
    await recordTries(database.sql, [{ delivery: claimed, after: { status: 'pending', waitMs: 0 }, result: each }]);
  }
  const record = await getDelivery(database.reader, delivery.orgId, delivery.deliveryId);
  assert.deepEqual(record?.tries, [result, unanswered]);
  assert.equal(record?.createdAtMs, delivery.createdAtMs);
});

test('only an ended delivery is sent again, with one more try', async () => {
  await freshTables();
  const delivery = planned();
  await storeDeliveries(database.sql, [delivery]);
  await resendDeliveries(database.sql, delivery.orgId, [delivery.deliveryId]);
  const [claimed] = await claim();
  assert.ok(claimed && claimed.resentFrom === null);
  await recordTries(database.sql, [{ delivery: claimed, after: { status: 'exhausted', waitMs: 0 }, result }]);
  await resendDeliveries(database.sql, newId('org'), [delivery.deliveryId]);
  assert.deepEqual(await claim(), [], 'another organization’s request changes nothing');
  await resendDeliveries(database.sql, delivery.orgId, [delivery.deliveryId]);
  const [again] = await claim();
  assert.deepEqual([again?.tries, again?.resentFrom, again?.body.equals(delivery.body)], [1, 'exhausted', true]);
});

test('an organization lists its own deliveries, newest first, a page at a time, also of one run', async () => {
  await freshTables();
  const orgId = newId('org');
  const mine = Array.from({ length: 5 }, (_, i) => planned({ orgId, deliveryId: newId('dlv', 1_700_000_000_000 + i) }));
  await storeDeliveries(database.sql, [...mine, planned()]);
  const ids = mine.map((each) => each.deliveryId).reverse();
  const first = await listDeliveries(database.reader, { ...ALL, orgId, limit: 3, after: null });
  assert.deepEqual(
    first.map((each) => each.deliveryId),
    ids.slice(0, 3),
  );
  const rest = await listDeliveries(database.reader, { ...ALL, orgId, limit: 3, after: ids[2] ?? null });
  assert.deepEqual(
    rest.map((each) => each.deliveryId),
    ids.slice(3),
  );
  const [third] = mine.slice(2);
  const ofRun = await listDeliveries(database.reader, {
    ...ALL,
    orgId,
    runId: third?.runId ?? 'run_none',
    limit: 3,
    after: null,
  });
  assert.deepEqual(
    ofRun.map((each) => each.deliveryId),
    [third?.deliveryId],
  );
});

test('a run’s deliveries are found without reading the organization’s, and of many tries the last ones', async () => {
  await freshTables();
  const { sql } = database;
  const delivery = planned();
  const { orgId, runId, deliveryId } = delivery;
  await storeDeliveries(sql, [delivery]);
  await sql`
    insert into notifier.deliveries (org_id, delivery_id, run_id, seq, url, url_sha256, host, event, key_id, body, status,
      tries, created_at, ended_at)
    select org_id, 'dlv_z' || n, 'run_' || n, 1, '', '', '', '', '', '', 'delivered', 1, created_at, created_at
    from notifier.deliveries, generate_series(1, 5000) n`;
  await sql`
    insert into notifier.delivery_tries
    select ${orgId}, ${deliveryId}, n, now(), 1, 500, '', 'try ' || n from generate_series(1, 3000) n`;
  await sql`analyze notifier.deliveries, notifier.delivery_tries`;
  const [listed] = await listDeliveries(database.reader, { ...ALL, orgId, runId, limit: 51, after: null });
  const record = await getDelivery(database.reader, orgId, deliveryId);
  assert.deepEqual(
    [listed?.tries.length, record?.tries.length, record?.tries[0]?.answerStart, record?.tries.at(-1)?.answerStart],
    [6, 20, 'try 2981', 'try 3000'],
  );
  const ofRun = { ...ALL, orgId, runId, limit: 51, after: null };
  assert.equal(await sql.begin((transaction) => rowsRead(transaction, pageStatement(transaction, ofRun))), 1);
  assert.equal(
    await sql.begin((transaction) => rowsRead(transaction, triesStatement(transaction, orgId, [deliveryId]))),
    20,
  );
});

test('the commit of a claim waits for the disk, the commit of a claim that got nothing does not', async () => {
  await freshTables();
  await storeDeliveries(database.sql, [planned()]);
  const claim = () =>
    database.sql.begin(async (sql) => {
      const { claimed } = await claimDeliveries(sql as unknown as typeof database.sql, claimRequest({}));
      const [row] = await sql`show synchronous_commit`;
      return [claimed.length, row?.synchronous_commit];
    });
  assert.deepEqual(
    [await claim(), await claim()],
    [
      [1, 'on'],
      [0, 'off'],
    ],
  );
});
