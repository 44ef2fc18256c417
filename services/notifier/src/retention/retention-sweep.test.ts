import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { type Clock, systemClock } from '@methods/base/clock';
import type { DeliveryId, OrgId } from '@methods/base/ids';
import { RetentionDays } from '@methods/base/retention-days';
import { ServiceError } from '@methods/errors/service-error';
import { createLogger, silentLogger } from '@methods/logging/logger';
import { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import { askSettings } from '@methods/rpc/ask-settings';
import { type Client, rpcClient } from '@methods/rpc/client';
import { RpcServer } from '@methods/rpc/server';
import { until } from '@methods/test/harness/until';
import {
  claimRequest,
  type NotifierDatabase,
  notifierDatabase,
  planned,
} from '../../test/notifier-database.fixture.ts';
import type { PlannedDelivery } from '../delivery/delivery.ts';
import { claimDeliveries, resendDeliveries } from '../store/claim-deliveries.ts';
import { recordTries } from '../store/record-tries.ts';
import { storeDeliveries } from '../store/store-deliveries.ts';
import { deletion, organizationsWithEnded, RetentionSweep } from './retention-sweep.ts';

const DAYS: Readonly<Record<string, number>> = { org_early: 30, org_month: 30, org_year: 365 };
const RESULT = { startedAtMs: 1_760_000_000_123, durationMs: 12, httpStatus: 200, error: '', answerStart: '' };

describe('the sweep of old deliveries', () => {
  let database: NotifierDatabase;
  let registry: RpcServer;
  let accounts: Client<typeof AccountService>;
  let sweep: RetentionSweep;
  let lines: { readonly msg: string; readonly deliveries?: number }[];

  before(async () => {
    database = await notifierDatabase();
    registry = await newRegistry('127.0.0.1:0');
    accounts = rpcClient(AccountService, `127.0.0.1:${registry.port}`);
  });
  after(async () => {
    accounts.close();
    await registry.stop();
    await database[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await database.sql`truncate notifier.deliveries cascade`;
    lines = [];
    sweep = newSweep();
  });
  afterEach(() => sweep.stop());

  function newSweep(clock: Clock = systemClock): RetentionSweep {
    const ask = async (orgId: OrgId) => (await askSettings(accounts, orgId, 60_000))?.retentionDays ?? null;
    return new RetentionSweep({
      sql: database.sql,
      retention: new RetentionDays({ clock, ask }),
      clock,
      random: () => 0,
      sweepMs: 10,
      logger: createLogger({ name: 'test', destination: { write: (line) => lines.push(JSON.parse(line)) } }),
    });
  }

  async function newRegistry(listen: string): Promise<RpcServer> {
    const getSettings = ({ orgId }: { orgId: OrgId }) => {
      const retentionDays = DAYS[orgId];
      if (retentionDays === undefined) throw new ServiceError('not_found');
      return { settings: { retentionDays } };
    };
    const services = [[AccountService, { getSettings }] as never];
    const server = new RpcServer({ listen, services, logger: silentLogger, graceMs: 100 });
    await server.start();
    return server;
  }

  /** Delivered at the first try, this many days ago. */
  async function ended(orgId: OrgId, daysAgo: number): Promise<PlannedDelivery> {
    const delivery = planned({ orgId });
    await storeDeliveries(database.sql, [delivery]);
    const claimed = await claimDeliveries(database.sql, claimRequest({ limit: 1 }));
    const [first] = claimed.claimed;
    assert.equal(first?.deliveryId, delivery.deliveryId);
    await recordTries(database.sql, [
      { delivery: first as never, after: { status: 'delivered', waitMs: 0 }, result: RESULT },
    ]);
    await database.sql`update notifier.deliveries set ended_at = ended_at - make_interval(secs => ${daysAgo * 86_400})
      where delivery_id = ${delivery.deliveryId}`;
    return delivery;
  }

  async function ids(): Promise<string[]> {
    const rows = await database.sql<{ delivery_id: DeliveryId }[]>`select delivery_id from notifier.deliveries`;
    return rows.map((row) => row.delivery_id).sort();
  }

  const idsOf = (deliveries: readonly PlannedDelivery[]) => deliveries.map((delivery) => delivery.deliveryId).sort();

  test('deletes deliveries that ended longer ago than the organization keeps, with their tries, and no others', async () => {
    await ended('org_month', 31);
    await ended('org_year', 366);
    const kept = [await ended('org_month', 29.9), await ended('org_year', 300), await ended('org_unknown', 9_000)];
    const pending = planned({ orgId: 'org_month' });
    await storeDeliveries(database.sql, [pending]);
    await database.sql`update notifier.deliveries set created_at = created_at - interval '900 days'`;
    sweep.start();
    await until('it is logged', () => lines.length > 0);
    assert.deepEqual(await ids(), idsOf([...kept, pending]));
    assert.equal((await database.sql`select from notifier.delivery_tries`).length, kept.length);
    assert.deepEqual(
      lines.map(({ msg, deliveries }) => [msg, deliveries]),
      [['old deliveries deleted', 2]],
    );
  });

  test('a delivery that is sent again and again is kept no longer', async () => {
    const { orgId, deliveryId } = await ended('org_month', 29);
    for (const status of ['delivered', 'stopped'] as const) {
      await resendDeliveries(database.sql, orgId, [deliveryId]);
      const { claimed } = await claimDeliveries(database.sql, claimRequest({ limit: 1 }));
      await recordTries(database.sql, [
        { delivery: claimed[0] as never, after: { status, waitMs: 0 }, result: RESULT },
      ]);
    }
    const kept = await ended('org_month', 1);
    await ended('org_month', 40);
    await database.sql`update notifier.deliveries set ended_at = ended_at - interval '2 days'`;
    sweep.start();
    await until('it is logged', () => lines.length > 0);
    assert.deepEqual(await ids(), [kept.deliveryId]);
  });

  test('deletes nothing while the registry is unavailable, and continues when it is back', async () => {
    const old = await ended('org_month', 4_000);
    const { port } = registry;
    await registry.stop();
    sweep.start();
    await until('it has failed twice', () => lines.length >= 2);
    assert.deepEqual(await ids(), [old.deliveryId]);
    registry = await newRegistry(`127.0.0.1:${port}`);
    await until('it is gone', async () => (await ids()).length === 0);
  });

  test('skips more than a page of kept deliveries, and several replicas do not delay each other', async () => {
    await ended('org_year', 300);
    await database.sql`
      insert into notifier.deliveries (org_id, delivery_id, run_id, seq, url, url_sha256, host, event, key_id, body,
        status, tries, created_at, ended_at)
      select case when n <= 450 then 'org_year' else 'org_month' end, 'dlv_' || n, 'run_' || n, 1, '', '', '', '', '', '',
        'delivered', 1, ended_at, ended_at
      from notifier.deliveries, generate_series(1, 700) n`;
    sweep.start();
    await until('the old ones are gone', async () => (await ids()).length === 451);
    assert.equal((await database.sql`select from notifier.deliveries where org_id = 'org_month'`).length, 0);
  });

  test('organizations take turns: one with many old deliveries does not delay one with few', async () => {
    const few = await ended('org_month', 31);
    await ended('org_early', 31);
    await database.sql`
      insert into notifier.deliveries (org_id, delivery_id, run_id, seq, url, url_sha256, host, event, key_id, body,
        status, tries, created_at, ended_at)
      select 'org_early', 'dlv_' || n, 'run_' || n, 1, '', '', '', '', '', '', 'delivered', 1, ended_at, ended_at
      from notifier.deliveries, generate_series(1, 2000) n where org_id = 'org_month'`;
    // Exactly a page of each: even if the test looks late, the other one is still in progress.
    let pages = 2;
    sweep = newSweep({
      ...systemClock,
      after: (ms, run) => (pages-- > 0 ? systemClock.after(ms, run) : { cancel() {} }),
    });
    sweep.start();
    await until('it is gone', async () => !(await ids()).includes(few.deliveryId));
    assert.ok((await ids()).length > 1_000, 'the other one is still at it');
  });

  test('processes more organizations than a page holds, each with its own retention', async () => {
    await ended('org_year', 300);
    await database.sql`
      insert into notifier.deliveries (org_id, delivery_id, run_id, seq, url, url_sha256, host, event, key_id, body,
        status, tries, created_at, ended_at)
      select 'org_0' || n, 'dlv_' || n, 'run_' || n, 1, '', '', '', '', '', '', 'delivered', 1, ended_at, ended_at
      from notifier.deliveries, generate_series(1, 450) n`;
    const gone = await ended('org_month', 31);
    sweep.start();
    await until('it is gone', async () => !(await ids()).includes(gone.deliveryId));
    assert.equal((await ids()).length, 451);
  });

  test('reads no more than it deletes and one index entry for each organization', async () => {
    const first = await ended('org_year', 300);
    await database.sql`
      insert into notifier.deliveries (org_id, delivery_id, run_id, seq, url, url_sha256, host, event, key_id, body,
        status, tries, created_at, ended_at)
      select 'org_' || n % 4, 'dlv_' || n, 'run_' || n, 1, '', '', '', '', '', '', 'delivered', 1, ended_at,
        ended_at + make_interval(secs => n) from notifier.deliveries, generate_series(1, 20000) n`;
    await database.sql`analyze notifier.deliveries`;
    const found = await organizationsWithEnded(database.sql, '', 10);
    assert.deepEqual(
      found.map(({ orgId, oldestDays }) => [orgId, Math.round(oldestDays)]),
      [...['org_0', 'org_1', 'org_2', 'org_3'].map((orgId) => [orgId, 300]), [first.orgId, 300]],
    );
    assert.deepEqual(await organizationsWithEnded(database.sql, first.orgId, 10), []);
    const readsItsIndex = async (query: unknown) => {
      const plan = await database.sql<{ 'QUERY PLAN': string }[]>`
        explain (analyze, costs off, timing off) ${query as string}`;
      const text = plan.map((row) => row['QUERY PLAN']).join('\n');
      assert.match(text, /Index Scan using deliveries_ended /);
      assert.ok(!/Rows Removed|Seq Scan|Sort/.test(text), text);
    };
    await readsItsIndex(deletion(database.sql, 'org_1', 299, 200));
    await readsItsIndex(deletion(database.sql, 'org_2', 900, 200));
  });
});
