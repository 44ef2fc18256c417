import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { MethodId, OrgId } from '@methods/base/ids';
import { BlobError } from '@methods/blobs/blob-store';
import { PostgresBlobStore } from '@methods/blobs/postgres-blob-store';
import { silentLogger } from '@methods/logging/logger';
import { OrganizationReader } from '@methods/postgres/organization-reader';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import { until } from '@methods/test/harness/until';
import { methodSource } from '../../test/running-registry.fixture.ts';
import { methodSource as judgedSource, judgeSource } from '../method/method-source.ts';
import { BuildStore, type ClaimedBuild } from '../store/build-store.ts';
import { BUILD_TRIES_MAX } from '../store/claim-build.ts';
import type { Database } from '../store/registry-database.ts';
import { UploadStore } from '../store/upload-store.ts';
import { VersionStore } from '../store/version-store.ts';
import { Builds, type BuildsOptions } from './builds.ts';
import { type BuildDatabase, buildDatabase, FREE } from './queued-builds.fixture.ts';
import { processCompiler } from './recording-compiler.ts';

let database: BuildDatabase;
let sql: Database;
let reader: OrganizationReader;
let store: BuildStore;
let orgId: OrgId;
before(async () => {
  database = await buildDatabase();
  sql = database.sql;
  reader = new OrganizationReader({ sql, role: 'registry_reader' });
  store = new BuildStore(sql);
  orgId = await database.newOrganization();
});
after(() => database.drop());

const judged = (bytes: Buffer) => judgedSource(bytes, judgeSource(bytes));
const DRAFT = judged(methodSource('Draft'));
async function queued(): Promise<MethodId> {
  const [methodId = ''] = await database.queue(orgId, 1);
  return methodId as MethodId;
}

async function claimOf(methodId: MethodId): Promise<ClaimedBuild> {
  const claim = await store.claim(FREE);
  equal(claim?.methodId, methodId);
  return claim;
}

const overdue = (methodId: MethodId) =>
  sql`update registry.builds set due_at = now() - interval '1 ms' where method_id = ${methodId}`;

async function versionsOf(methodId: MethodId): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from registry.versions where method_id = ${methodId}`;
  return row?.n ?? -1;
}

/** Announced ends of builds. */
const endings: MethodId[] = [];

/** Returns the build of a method once this process, and no other, has finished all due builds. */
async function workedOff(methodId: MethodId, more: Partial<BuildsOptions> = {}) {
  const builds = new Builds({
    store,
    uploads: new UploadStore(sql, reader),
    blobs: new PostgresBlobStore(sql, 'registry'),
    compiler: processCompiler(),
    logger: silentLogger,
    changes: { buildEnded: ({ methodId: ended }) => endings.push(ended) },
    ...more,
  });
  builds.start();
  try {
    return await until('the build ends', async () => {
      const [build] = await sql<{ state: string; attempts: number; error: string }[]>`
        select state, attempts, error from registry.builds where method_id = ${methodId} and due_at is null`;
      return build;
    });
  } finally {
    await builds.stop();
  }
}

describe('claims of builds', { timeout: 300_000 }, () => {
  test('each of 20 simultaneous claims gets another build', async () => {
    const methods = [await queued(), await queued(), await queued()];
    const claims = await Promise.all(Array.from({ length: 20 }, () => store.claim(FREE)));
    const got = claims.filter((claim) => claim !== null);
    deepEqual(got.map(({ methodId }) => methodId).toSorted(), methods.toSorted());
    equal(new Set(got.map(({ token }) => token)).size, 3);
    for (const claim of got) ok(await store.fail(claim, 'Given up.'));
  });

  test('an attempt that was replaced after its lease expired changes nothing', async () => {
    const methodId = await queued();
    const slow = await claimOf(methodId);
    equal(await store.claim(FREE), null, 'a lease holds');
    await overdue(methodId);
    const next = await claimOf(methodId);
    equal(next.triesBefore, 1);
    equal(await store.succeed(slow, DRAFT, 'Draft'), false);
    equal(await store.fail(slow, 'Too late.'), false);
    await store.release(slow);
    equal(await versionsOf(methodId), 0);
    equal(await store.succeed(next, DRAFT, 'Draft'), true);
    equal(await store.succeed(next, DRAFT, 'Draft'), false);
    equal(await versionsOf(methodId), 1);
  });

  test('only one of 20 simultaneous ends of an attempt has an effect', async () => {
    const methodId = await queued();
    const claim = await claimOf(methodId);
    const ends = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        i % 2 === 0 ? store.succeed(claim, DRAFT, 'Draft') : store.fail(claim, 'Failed.'),
      ),
    );
    equal(ends.filter(Boolean).length, 1);
    ok((await versionsOf(methodId)) <= 1);
  });

  test('a version saved during the build stays, and the draft is dropped', async () => {
    const methodId = await queued();
    const claim = await claimOf(methodId);
    const byHand = judged(methodSource('By hand'));
    const saved = { orgId, methodId, baseVersion: null, source: byHand, reason: '', doer: TEST_DOER };
    const versions = new VersionStore(sql, reader);
    const { version } = await versions.save(saved);
    equal(await store.succeed(claim, DRAFT, 'Draft'), true);
    equal((await versions.find(orgId, methodId, { kind: 'current' })).version.versionId, version.versionId);
    equal(await versionsOf(methodId), 1);
  });

  test('a build fails with a sentence when all its tries end without a result', async () => {
    const methodId = await queued();
    for (let tries = 0; tries < BUILD_TRIES_MAX; tries++) {
      await claimOf(methodId);
      await overdue(methodId);
    }
    deepEqual(
      { ...(await workedOff(methodId)) },
      {
        state: 'failed',
        attempts: BUILD_TRIES_MAX,
        error: 'The recording could not be compiled: several tries ended without a result.',
      },
    );
    deepEqual(
      endings.filter((ended) => ended === methodId),
      [methodId],
    );
  });

  test('a recording whose parts are missing fails with a sentence', async () => {
    const methodId = await queued();
    const build = await workedOff(methodId);
    equal(build.error, 'The recording is incomplete: upload it again.');
    deepEqual(
      endings.filter((ended) => ended === methodId),
      [methodId],
    );
  });

  test('a build that takes longer than its lease keeps it, and no other process begins it', async () => {
    const methodId = await queued();
    const blobs = new PostgresBlobStore(sql, 'registry');
    let others: (ClaimedBuild | null)[] = [];
    blobs.read = async function* () {
      await until('three leases are over', async () => {
        others = [...others, await store.claim(FREE)];
        const [row] = await sql`select where (select due_at from registry.builds where method_id = ${methodId})
          > (select created_at from registry.methods where method_id = ${methodId}) + interval '6 s'`;
        return row;
      });
      throw new BlobError('missing', 'There is none.');
    };
    const { attempts, state } = await workedOff(methodId, { blobs, leaseMs: 2_000 });
    deepEqual([attempts, state], [1, 'failed']);
    deepEqual(new Set(others), new Set([null]));
  });
});
