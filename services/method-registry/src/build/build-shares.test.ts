import 'reflect-metadata/lite';
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type MethodId, type OrgId, randomToken } from '@methods/base/ids';
import { PostgresBlobStore } from '@methods/blobs/postgres-blob-store';
import { silentLogger } from '@methods/logging/logger';
import { OrganizationReader } from '@methods/postgres/organization-reader';
import { until } from '@methods/test/harness/until';
import { BuildStore, type ClaimedBuild } from '../store/build-store.ts';
import { claimBuild } from '../store/claim-build.ts';
import { UploadStore } from '../store/upload-store.ts';
import { Builds } from './builds.ts';
import { type BuildDatabase, buildDatabase, FREE } from './queued-builds.fixture.ts';
import type { Compiled, CompileRequest, RecordingCompiler } from './recording-compiler.ts';

let database: BuildDatabase;
let store: BuildStore;
let [many, few]: [OrgId, OrgId] = ['org_none', 'org_none'];
before(async () => {
  database = await buildDatabase();
  store = new BuildStore(database.sql);
});
after(() => database.drop());
beforeEach(async () => {
  await database.sql`delete from registry.builds`;
  [many, few] = [await database.newOrganization(), await database.newOrganization()];
});

async function claimed(terms = FREE): Promise<ClaimedBuild> {
  const claim = await store.claim(terms);
  ok(claim);
  return claim;
}

/** A compiler whose work lasts until the test ends it. */
class HeldCompiler implements RecordingCompiler {
  readonly ends: ((compiled: Compiled) => void)[] = [];
  compile(_: CompileRequest, signal: AbortSignal): Promise<Compiled> {
    return new Promise((resolve, reject) => {
      this.ends.push(resolve);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  }
}

describe('shares of organizations in builds', { timeout: 300_000 }, () => {
  test('a build queued behind 200 of another organization is next', async () => {
    await database.queue(many, 200);
    const first = await claimed();
    equal(first.orgId, many);
    const [methodId] = await database.queue(few, 1);
    equal((await claimed()).methodId, methodId);
    equal((await claimed()).orgId, many);
  });

  test('with as many builds in progress, the organization served longest ago is next, and each gets its oldest', async () => {
    const [first] = await database.queue(many, 3);
    const [other] = await database.queue(few, 3);
    const order: string[] = [];
    for (let i = 0; i < 6; i++) {
      const claim = await claimed();
      order.push(claim.orgId);
      if (i === 0) ok([first, other].includes(claim.methodId));
      ok(await store.fail(claim, 'Given up.'));
    }
    for (const at of [0, 2, 4]) equal(new Set(order.slice(at, at + 2)).size, 2, order.join());
  });

  test('a place for small recordings takes one from behind 200 large ones', async () => {
    await database.queue(many, 200, { isLarge: true });
    const [small] = await database.queue(many, 1);
    equal((await claimed({ ...FREE, noLargeOf: [many] })).methodId, small);
    equal(await store.claim({ ...FREE, takeLarge: false }), null);
    equal(await store.claim({ ...FREE, noneOf: [many] }), null);
  });

  test('an organization never uses all places, so another one’s build begins at once', async () => {
    const { sql } = database;
    const reader = new OrganizationReader({ sql, role: 'registry_reader' });
    const compiler = new HeldCompiler();
    const builds = new Builds({
      store,
      uploads: new UploadStore(sql, reader),
      blobs: new PostgresBlobStore(sql, 'registry'),
      compiler,
      logger: silentLogger,
      changes: { buildEnded: () => {} },
    });
    const running = async (orgId: OrgId) =>
      (await sql`select method_id from registry.builds where org_id = ${orgId} and state = 'running'`).length;
    await database.queue(many, 200);
    builds.start();
    try {
      await until('the organization has its share', () => compiler.ends.length === 2);
      equal(await running(many), 2);
      await database.queue(few, 1);
      builds.wake();
      await until('the other one’s build runs beside them', () => compiler.ends.length === 3);
      deepEqual([await running(many), await running(few)], [2, 1]);
      compiler.ends[0]?.({ kind: 'broke_down' });
      await until('a free place is used', () => compiler.ends.length === 4);
      const [failed] = await sql`select count(*)::int as n from registry.builds where state = 'failed'`;
      equal(failed?.n, 1, 'a crash fails its own build');
      deepEqual([await running(many), await running(few)], [2, 1]);
    } finally {
      await builds.stop();
    }
    deepEqual([await running(many), await running(few)], [0, 0]);
  });

  test('a claim reads a few rows of each organization, not all builds', async () => {
    const { sql } = database;
    const others = await Promise.all(Array.from({ length: 20 }, () => database.newOrganization()));
    await database.queue(many, 1_000);
    await database.queue(many, 1_000, { isLarge: true });
    for (const orgId of others) await database.queue(orgId, 1);
    await sql`analyze registry.builds`;
    // Rolled back, since explaining a claim makes it.
    const read = await sql
      .begin(async (tx) => {
        const [plan] = await tx`explain (analyze, format json) ${claimBuild(tx, randomToken(), FREE)}`;
        throw new Explained(mostRowsRead(plan?.['QUERY PLAN'][0].Plan));
      })
      .catch((error) => (error instanceof Explained ? error.rows : Promise.reject(error)));
    ok(read <= 10 * others.length, `a step of the claim reads ${read} rows`);
  });

  test('a method’s updated_at changes with its build', async () => {
    const [methodId = '' as MethodId] = await database.queue(many, 1);
    let last = 0;
    const moves = async () => {
      const [row] = await database.sql<{ at: Date }[]>`
        select updated_at as at from registry.methods where org_id = ${many} and method_id = ${methodId}`;
      const before = last;
      last = row?.at.getTime() ?? 0;
      return last > before;
    };
    const backdated = () =>
      database.sql`update registry.methods set updated_at = to_timestamp(${last / 1_000}) where method_id = ${methodId}`;
    ok(await moves());
    const claim = await claimed();
    ok(await moves(), 'begun');
    last -= 1_000;
    await backdated();
    await store.release(claim);
    ok(await moves(), 'given back');
    last -= 1_000;
    await backdated();
    ok(await store.fail(await claimed(), 'Failed.'));
    ok(await moves(), 'failed');
    last -= 1_000;
    await backdated();
    await store.retry(many, methodId, { kind: 'user', id: 'usr_1', ip: '', requestId: '' });
    ok(await moves(), 'queued again');
  });
});

class Explained extends Error {
  constructor(readonly rows: number) {
    super('explained');
  }
}

/** For the step of a plan that reads most. */
function mostRowsRead(plan: Record<string, unknown>): number {
  const each = Number(plan['Actual Rows']) + Number(plan['Rows Removed by Filter'] ?? 0);
  const below = (plan.Plans as Record<string, unknown>[] | undefined) ?? [];
  return Math.max(each * Number(plan['Actual Loops']), ...below.map(mostRowsRead));
}
