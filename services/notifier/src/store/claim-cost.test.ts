// The rows that a claim reads, by the server's count: never the backlog of a full host, an organization's other hosts,
// or deliveries for later.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId, newRunId, type OrgId } from '@methods/base/ids';
import { openPool, type Sql } from '@methods/postgres/pool';
import {
  claimRequest,
  type NotifierDatabase,
  notifierDatabase,
  planned,
} from '../../test/notifier-database.fixture.ts';
import { rowsRead } from '../../test/rows-read.fixture.ts';
import { claimDeliveries } from './claim-deliveries.ts';
import { type ClaimRequest, claimStatement } from './claim-statement.ts';
import { storeDeliveries } from './store-deliveries.ts';

const backlogged = newId('org');
const scattered = newId('org');
const later = newId('org');
const small = newId('org');

/** The backlogged organization has as many sends in flight as one host may have. */
const FULL = {
  orgId: backlogged,
  underWay: 8,
  sends: 50,
  bytes: 1 << 20,
  hosts: new Map([['full', 0]]),
};

let database: NotifierDatabase;
before(async () => {
  database = await notifierDatabase();
  const sql = openPool({ url: database.url, applicationName: 'fill', max: 1, statementTimeoutMs: 0 });
  await fill(sql, backlogged, 300_000, 0, "'full'", "interval '-1 hour'");
  await fill(sql, scattered, 5_000, 1, "'host' || n", "interval '-2 hours'");
  await fill(sql, later, 20_000, 1, "'host' || n % 10000", "interval '3 hours'");
  await sql.end();
});
after(() => database[Symbol.asyncDispose]());

async function fill(sql: Sql, orgId: OrgId, rows: number, tries: number, host: string, due: string): Promise<void> {
  await sql.unsafe(
    `insert into notifier.deliveries (org_id, delivery_id, run_id, seq, url, url_sha256, host, event, key_id, body, tries,
       created_at, due_at)
     select $1::text, 'dlv_' || n, 'run_' || n, 1, '', '', ${host}, '', '', '', $2::int, now(), now() + ${due}
     from generate_series(1, $3::int) n`,
    [orgId, tries, rows],
  );
}

/** It claims what it claims. */
function rowsOfClaim(fields: Partial<ClaimRequest> = {}): Promise<number> {
  return rowsRead(database.sql, claimStatement(database.sql, claimRequest(fields)));
}

async function claimedOf(orgId: OrgId, fields: Partial<ClaimRequest>): Promise<number> {
  const { claimed } = await claimDeliveries(database.sql, claimRequest(fields));
  return claimed.filter((each) => each.orgId === orgId).length;
}

test('300,000 due deliveries of a full host, 5,000 due hosts and 20,000 rows for later are not read', async () => {
  const one = { busy: [FULL], limit: 1 };
  const counts = [await rowsOfClaim(one), await rowsOfClaim(one), await rowsOfClaim({ ...one, limit: 8 })];
  assert.ok(Math.max(...counts) < 150, counts.join());
});

test('an organization with one delivery gets it claimed beside 300,000 of one host and 5,000 older hosts', async () => {
  await storeDeliveries(database.sql, [planned({ orgId: small, host: 'small' })]);
  const busy = [FULL];
  assert.equal(await claimedOf(small, { busy, limit: 3 }), 1);
});

test('hosts of one organization take turns, and 5,000 of them are done in as many claims as they need', async () => {
  const busy = [{ ...FULL, sends: 0 }];
  let hosts = 0;
  for (let claims = 0; claims < 100; claims++) {
    const { claimed } = await claimDeliveries(database.sql, claimRequest({ busy }));
    if (claimed.length === 0) break;
    hosts += new Set(claimed.map(({ host }) => host)).size;
  }
  assert.ok(hosts > 4_900, String(hosts));
  const read = await rowsOfClaim({ busy });
  assert.ok(read < 20, `${read} rows when nothing is due`);
});

test('a run of a thousand events costs only its own organization’s turns', async () => {
  const orgId = newId('org');
  const runId = newRunId(1);
  await storeDeliveries(
    database.sql,
    Array.from({ length: 1_000 }, (_, i) => planned({ orgId, runId, seq: i + 1, host: 'run' })),
  );
  await storeDeliveries(database.sql, [planned({ orgId: small, host: 'small' })]);
  const busy = [{ ...FULL, sends: 0 }];
  const { claimed } = await claimDeliveries(database.sql, claimRequest({ busy, limit: 4 }));
  assert.deepEqual(claimed.map((each) => [each.orgId === orgId ? each.seq : 'small']).sort(), [[1], ['small']]);
  let looks = 0;
  while ((await claimDeliveries(database.sql, claimRequest({ busy }))).more) looks++;
  assert.ok(looks <= 1_000 / 8, `${looks} looks until all wait`);
  assert.ok((await rowsOfClaim({ busy })) < 20, 'what waits is not seen again');
});
