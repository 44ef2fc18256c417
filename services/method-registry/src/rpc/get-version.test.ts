import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { type OrgId, productionMethodId, type VersionId } from '@methods/base/ids';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import {
  methodSource,
  newMethod,
  newOrganization,
  type RunningRegistry,
  startRegistry,
} from '../../test/running-registry.fixture.ts';

let registry: RunningRegistry;
let orgId: OrgId;
before(async () => {
  registry = await startRegistry();
  orgId = await newOrganization(registry.client);
});
after(() => registry.stop());

describe('PublishVersion and GetVersion', () => {
  test('"published", an id and an empty text select three versions', async () => {
    const { client } = registry;
    const { methodId, versionId: first } = await newMethod(client, orgId, methodSource('One'));
    await rejects(client.getVersion({ orgId, methodId, version: 'published' }), { code: 'not_published' });
    const published = await client.publishVersion({ doer: TEST_DOER, orgId, methodId, versionId: first });
    equal(published.method?.publishedVersion, first);
    const { version: second } = await client.saveVersion({
      doer: TEST_DOER,
      orgId,
      methodId,
      baseVersion: first,
      source: methodSource('Two'),
    });

    const asked = async (version: string) => await client.getVersion({ orgId, methodId, version });
    const run = await asked('published');
    equal(run.version?.versionId, first);
    deepEqual(Buffer.from(run.version?.source ?? []), methodSource('One'));
    ok((run.version?.publishedAtMs ?? 0) > 0);
    equal(run.method?.currentVersion, second?.versionId);
    const current = await asked('');
    equal(current.version?.versionId, second?.versionId);
    equal(current.version?.publishedAtMs, 0);
    equal((await asked(first)).version?.versionId, first);
    await rejects(asked(`ver_${'0'.repeat(26)}`), { code: 'not_found' });
    await rejects(asked('latest'), { code: 'not_found' });
  });

  test('both spellings of a method id are read', async () => {
    const { client } = registry;
    const { methodId, versionId } = await newMethod(client, orgId);
    const production = productionMethodId(methodId);
    equal((await client.getMethod({ orgId, methodId: production })).method?.methodId, methodId);
    equal((await client.getVersion({ orgId, methodId: production })).version?.versionId, versionId);
  });

  test('who published what and when is recorded in order; a repeat changes nothing', async () => {
    const { client, sql } = registry;
    const { methodId, versionId: first } = await newMethod(client, orgId);
    const { version } = await client.saveVersion({
      doer: TEST_DOER,
      orgId,
      methodId,
      baseVersion: first,
      source: methodSource('Two'),
    });
    const second = version?.versionId ?? 'ver_none';
    for (const [versionId, id] of [
      [first, 'ann'],
      [second, 'ben'],
      [second, 'cat'],
      [first, 'dan'],
    ] as const) {
      await client.publishVersion({ doer: { ...TEST_DOER, id }, orgId, methodId, versionId });
    }
    const rows = await sql<{ version_id: VersionId; published_by: string }[]>`
      select version_id, published_by from registry.publications where method_id = ${methodId} order by publication_id`;
    deepEqual(
      rows.map((row) => [row.version_id, row.published_by]),
      [
        [first, 'ann'],
        [second, 'ben'],
        [first, 'dan'],
      ],
    );
  });

  test('a version of another method cannot be published', async () => {
    const { client } = registry;
    const { methodId } = await newMethod(client, orgId);
    const { versionId } = await newMethod(client, orgId);
    await rejects(client.publishVersion({ doer: TEST_DOER, orgId, methodId, versionId }), { code: 'not_found' });
    equal((await client.getMethod({ orgId, methodId })).method?.publishedVersion, '');
  });

  test('keys and versions are read by index', async () => {
    const { sql } = registry;
    // With sequential scans disabled, a plan that still has one has no index to use.
    const plan = async (statement: string) =>
      await sql.begin(async (tx) => {
        await tx`set local enable_seqscan = off`;
        return (await tx.unsafe(`explain ${statement}`)).map((row) => String(row['QUERY PLAN'])).join('\n');
      });
    ok(!/Seq Scan/.test(await plan("select 1 from registry.service_keys where auth_sha256 = sha256('a')")));
    ok(
      !/Seq Scan/.test(
        await plan(
          "select 1 from registry.versions where org_id = 'o' and method_id = 'm' and version_id = 'v' and source is not null",
        ),
      ),
    );
  });
});

describe('PutLock', () => {
  test('of 50 simultaneous locks the first is stored and all get its hash', async () => {
    const { client } = registry;
    const { methodId, versionId } = await newMethod(client, orgId);
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        client.putLock({ orgId, methodId, versionId, lock: Buffer.from(`lock ${i}`) }),
      ),
    );
    equal(replies.filter(({ stored }) => stored).length, 1);
    equal(new Set(replies.map(({ lockSha256 }) => lockSha256)).size, 1);
    const { version } = await client.getVersion({ orgId, methodId });
    equal(version?.lockSha256, replies[0]?.lockSha256);
    equal(
      createHash('sha256')
        .update(version?.lock ?? '')
        .digest('hex'),
      replies[0]?.lockSha256,
    );
  });

  test('a lock has 1 byte to 1 MiB and belongs to a version of the method', async () => {
    const { client } = registry;
    const { methodId, versionId } = await newMethod(client, orgId);
    const { methodId: other } = await newMethod(client, orgId);
    const put = (lock: Buffer, of = methodId) => client.putLock({ orgId, methodId: of, versionId, lock });
    await rejects(put(Buffer.alloc(0)), { code: 'invalid_request' });
    await rejects(put(Buffer.alloc(1024 * 1024 + 1)), { code: 'too_large' });
    await rejects(put(Buffer.from('lock'), other), { code: 'not_found' });
    equal((await put(Buffer.alloc(1024 * 1024))).stored, true);
  });
});
