import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { before, describe, test } from 'node:test';
import type { MethodId, OrgId } from '@methods/base/ids';
import type { ServiceError } from '@methods/errors/service-error';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import {
  commonRegistry,
  methodSource,
  newOrganization,
  type RunningRegistry,
} from '../../test/running-registry.fixture.ts';

let registry: RunningRegistry;
let orgId: OrgId;
before(async () => {
  registry = await commonRegistry();
  orgId = await newOrganization(registry.client);
});

const create = (
  source: Uint8Array,
  more: { displayName?: string; doer?: typeof TEST_DOER | { kind: string; id: string }; idempotencyHash?: Buffer } = {},
) => registry.client.createMethod({ doer: TEST_DOER, orgId, idempotencyHash: randomBytes(32), source, ...more });

describe('CreateMethod', () => {
  test('a method is created with its first version', async () => {
    const source = methodSource('Weekly report');
    const { method, version, created, warnings } = await create(source);
    equal(created, true);
    deepEqual(warnings, []);
    equal(method?.orgId, orgId);
    equal(method?.displayName, 'Weekly report');
    equal(method?.status, 'ready');
    equal(method?.format, 'method/2');
    equal(method?.currentVersion, version?.versionId);
    equal(method?.publishedVersion, '');
    equal(method?.createdBy?.kind, 'system');
    equal(method?.createdBy?.id, TEST_DOER.id);
    equal(version?.methodId, method?.methodId);
    equal(version?.schemaVersion, 'method/2');
    equal(version?.sha256, createHash('sha256').update(source).digest('hex'));
    deepEqual(version?.features, ['http']);
    deepEqual(version?.secrets, ['SHOP_TOKEN']);
    equal(version?.source.length, 0);
  });

  test('40 simultaneous creations with one key create one method', async () => {
    const idempotencyHash = randomBytes(32);
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, i) => create(methodSource(`Report ${i}`), { idempotencyHash })),
    );
    equal(new Set(replies.map(({ method }) => method?.methodId)).size, 1);
    equal(new Set(replies.map(({ version }) => version?.sha256)).size, 1);
    equal(replies.filter(({ created }) => created).length, 1);
    const [rows] = await registry.sql<{ methods: number; versions: number }[]>`
      select (select count(*)::int from registry.methods where method_id = ${replies[0]?.method?.methodId ?? ('' as MethodId)}) methods,
        (select count(*)::int from registry.versions where method_id = ${replies[0]?.method?.methodId ?? ('' as MethodId)}) versions`;
    deepEqual({ ...rows }, { methods: 1, versions: 1 });
  });

  test('a repeated key gets the same method and its created version, even with other fields', async () => {
    const idempotencyHash = randomBytes(32);
    const first = await create(methodSource('First'), { idempotencyHash });
    const methodId = first.method?.methodId ?? ('' as MethodId);
    const baseVersion = first.version?.versionId ?? 'ver_none';
    await registry.client.saveVersion({
      doer: TEST_DOER,
      orgId,
      methodId,
      baseVersion,
      source: methodSource('Second'),
    });
    for (const source of [Buffer.from('not a method'), Buffer.alloc(300 * 1024), Buffer.from([0xff])]) {
      const again = await create(source, { idempotencyHash, displayName: 'x'.repeat(300) });
      equal(again.created, false);
      equal(again.method?.methodId, methodId);
      equal(again.version?.versionId, baseVersion);
    }
  });

  test('one key in two organizations creates two methods', async () => {
    const idempotencyHash = randomBytes(32);
    const mine = await create(methodSource('Mine'), { idempotencyHash });
    const theirs = await registry.client.createMethod({
      doer: TEST_DOER,
      orgId: await newOrganization(registry.client),
      idempotencyHash,
      source: methodSource('Theirs'),
    });
    equal(theirs.created, true);
    ok(theirs.method?.methodId !== mine.method?.methodId);
  });

  test('a display name has up to 200 code points; NUL is refused', async () => {
    const source = methodSource('Report');
    equal((await create(source, { displayName: '😀'.repeat(200) })).method?.displayName, '😀'.repeat(200));
    await rejects(create(source, { displayName: 'x'.repeat(201) }), { code: 'invalid_request' });
    await rejects(create(source, { displayName: 'a\0b' }), { code: 'invalid_request' });
    await rejects(create(source, { doer: { kind: 'system', id: 'a\0b' } }), { code: 'invalid_request' });
    await rejects(create(source, { doer: { kind: 'user', id: 'ann' } }), { code: 'invalid_request' });
  });

  test('a refused source names the places and creates nothing', async () => {
    const idempotencyHash = randomBytes(32);
    const wrong = Buffer.from(methodSource('Wrong').toString().replace('steps.orders.total', 'steps.ordrs.total'));
    await rejects(create(wrong, { idempotencyHash }), (error: ServiceError) => {
      equal(error.code, 'invalid_method');
      const finding = error.findings.find(({ severity }) => severity === 'error');
      equal(finding?.code, 'M201');
      equal(finding?.line, 13);
      ok((finding?.column ?? 0) > 1);
      ok((finding?.endColumn ?? 0) > (finding?.column ?? 0));
      return true;
    });
    equal((await create(methodSource('Right'), { idempotencyHash })).created, true);
  });

  test('over 256 KiB is too large, exactly 256 KiB is not', async () => {
    const source = methodSource('Long');
    const padded = (bytes: number) => Buffer.concat([source, Buffer.from(`#${'x'.repeat(bytes - source.length - 1)}`)]);
    equal((await create(padded(256 * 1024))).created, true);
    await rejects(create(padded(256 * 1024 + 1)), {
      code: 'too_large',
      findings: [{ path: '/source', code: 'source_bytes', message: 'It has 262145 bytes.' }],
    });
  });

  test('bytes that are not UTF-8 are M002', async () => {
    const source = Buffer.concat([methodSource('Report'), Buffer.from([0x23, 0x20, 0xe9, 0x0a])]);
    await rejects(create(source), (error: ServiceError) => {
      equal(error.code, 'invalid_method');
      deepEqual(
        error.findings.map(({ code, severity }) => [code, severity]),
        [['M002', 'error']],
      );
      return true;
    });
  });

  test('a workflow/1 source is stored with warning U000 and may be published', async () => {
    const source = Buffer.from(
      'format: workflow/1\nworkflow: Weekly report\nsteps:\n  - name: Send\n    run: ./send.sh\n',
    );
    const { method, version, warnings } = await create(source);
    deepEqual(
      warnings.map(({ code, severity }) => [code, severity]),
      [['U000', 'warning']],
    );
    equal(method?.format, 'workflow/1');
    equal(method?.displayName, 'Weekly report');
    equal(version?.schemaVersion, 'workflow/1');
    const methodId = method?.methodId ?? ('' as MethodId);
    const published = await registry.client.publishVersion({
      doer: TEST_DOER,
      orgId,
      methodId,
      versionId: version?.versionId ?? 'ver_none',
    });
    equal(published.method?.publishedVersion, version?.versionId);
  });
});
