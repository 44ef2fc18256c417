import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, describe, test } from 'node:test';
import type { OrgId, VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import {
  commonRegistry,
  methodSource,
  newMethod,
  newOrganization,
  type RunningRegistry,
} from '../../test/running-registry.fixture.ts';

let registry: RunningRegistry;
let orgId: OrgId;
before(async () => {
  registry = await commonRegistry();
  orgId = await newOrganization(registry.client);
});

describe('SaveVersion', () => {
  test('of 100 simultaneous saves on one base exactly one succeeds; the others get the current version', async () => {
    const { client } = registry;
    const { methodId, versionId } = await newMethod(client, orgId);
    const saves = await Promise.allSettled(
      Array.from({ length: 100 }, (_, i) =>
        client.saveVersion({
          doer: TEST_DOER,
          orgId,
          methodId,
          baseVersion: versionId,
          source: methodSource(`Report ${i}`),
        }),
      ),
    );
    const won = saves.flatMap((save) => (save.status === 'fulfilled' ? [save.value] : []));
    equal(won.length, 1);
    equal(won[0]?.created, true);
    const current = won[0]?.version?.versionId;
    for (const save of saves) {
      if (save.status === 'fulfilled') continue;
      ok(save.reason instanceof ServiceError);
      equal(save.reason.code, 'version_conflict');
      equal(save.reason.facts.current_version, current);
    }
    equal((await client.getMethod({ orgId, methodId })).method?.currentVersion, current);
  });

  test('of 100 simultaneous saves of the same bytes one creates the version and all get it', async () => {
    const { client } = registry;
    const { methodId, versionId } = await newMethod(client, orgId);
    const source = methodSource('The same');
    const replies = await Promise.all(
      Array.from({ length: 100 }, () =>
        client.saveVersion({ doer: TEST_DOER, orgId, methodId, baseVersion: versionId, source }),
      ),
    );
    equal(replies.filter(({ created }) => created).length, 1);
    equal(new Set(replies.map(({ version }) => version?.versionId)).size, 1);
  });

  test("saving the current version's bytes again creates nothing, on the current or an older base", async () => {
    const { client } = registry;
    const { methodId, versionId: first } = await newMethod(client, orgId, methodSource('One'));
    const two = await client.saveVersion({
      doer: TEST_DOER,
      orgId,
      methodId,
      baseVersion: first,
      source: methodSource('Two'),
    });
    for (const baseVersion of [first, two.version?.versionId ?? 'ver_none']) {
      const again = await client.saveVersion({
        doer: TEST_DOER,
        orgId,
        methodId,
        baseVersion,
        source: methodSource('Two'),
      });
      equal(again.created, false);
      equal(again.version?.versionId, two.version?.versionId);
    }
    // An earlier version's bytes become a new version, since going back is a change too.
    const back = await client.saveVersion({
      doer: TEST_DOER,
      orgId,
      methodId,
      baseVersion: two.version?.versionId ?? 'ver_none',
      source: methodSource('One'),
      reason: 'Two was wrong',
    });
    equal(back.created, true);
    equal(back.version?.reason, 'Two was wrong');
  });

  test('any base but the current version is a conflict', async () => {
    const { client } = registry;
    const { methodId, versionId } = await newMethod(client, orgId);
    const { versionId: foreign } = await newMethod(client, orgId);
    for (const baseVersion of ['', 'published', 'a\u00e4', `ver_${'0'.repeat(26)}`, foreign]) {
      await rejects(
        client.saveVersion({
          doer: TEST_DOER,
          orgId,
          methodId,
          baseVersion: baseVersion as VersionId,
          source: methodSource('New'),
        }),
        {
          code: 'version_conflict',
          facts: { current_version: versionId },
        },
      );
    }
  });

  test('bytes are returned as saved, with exactly their hash', async () => {
    const { client } = registry;
    const text = methodSource('Cafe\u0301 — 東京').toString();
    const bom = Buffer.from([0xef, 0xbb, 0xbf]);
    const sources = [
      Buffer.from(text),
      Buffer.from(text.normalize('NFC')),
      Buffer.from(text.replaceAll('\n', '\r\n')),
      Buffer.concat([bom, Buffer.from(text)]),
      Buffer.from(`${text}# no newline at the end`),
      Buffer.from(`${text}\n\n\n`),
    ];
    for (const source of sources) {
      const { methodId, versionId } = await newMethod(client, orgId, source);
      const { version } = await client.getVersion({ orgId, methodId, version: versionId });
      deepEqual(Buffer.from(version?.source ?? []), source);
      equal(version?.sha256, createHash('sha256').update(source).digest('hex'));
    }
  });

  test('a reason has up to 2,000 code points', async () => {
    const { client } = registry;
    const { methodId, versionId } = await newMethod(client, orgId);
    const save = (reason: string) =>
      client.saveVersion({
        doer: TEST_DOER,
        orgId,
        methodId,
        baseVersion: versionId,
        source: methodSource('Reasoned'),
        reason,
      });
    await rejects(save('x'.repeat(2_001)), { code: 'invalid_request' });
    await rejects(save('a\0b'), { code: 'invalid_request' });
    equal((await save('😀'.repeat(2_000))).version?.reason, '😀'.repeat(2_000));
  });

  test('the database itself refuses a changed version, a fork and a wrong hash', async () => {
    const { client, sql } = registry;
    const { methodId, versionId } = await newMethod(client, orgId);
    await client.saveVersion({
      doer: TEST_DOER,
      orgId,
      methodId,
      baseVersion: versionId,
      source: methodSource('Next'),
    });
    await rejects(sql`update registry.versions set reason = 'other' where version_id = ${versionId}`, {
      code: '23000',
    });
    const copy = (column: string, expression: string) =>
      sql.unsafe(`
      insert into registry.versions (org_id, method_id, version_id, base_version, schema_version, source, sha256, reason,
        features, secrets, calls_json, created_by)
      select org_id, method_id, 'ver_${'0'.repeat(26)}',
        ${column === 'base' ? expression : "'ver_none'"}, schema_version, source,
        ${column === 'sha256' ? expression : 'sha256'}, reason, features, secrets, calls_json, created_by
      from registry.versions where version_id = '${versionId}'`);
    await rejects(copy('base', `'${versionId}'`), { constraint_name: 'versions_base_key' });
    await rejects(copy('base', 'null'), { constraint_name: 'versions_first_key' });
    await rejects(copy('sha256', "sha256('other')"), { constraint_name: 'versions_sha256_check' });
  });
});
