import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { MethodId, OrgId } from '@methods/base/ids';
import { compileMethod } from '@methods/method/compile';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import { until } from '@methods/test/harness/until';
import { recordedMethod, SHOP_HAR, TABLE_RECORDING } from '../../test/recordings.fixture.ts';
import {
  methodSource,
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

/** The method once its build has ended. */
async function built(methodId: MethodId) {
  return await until('the build ends', async () => {
    const { method } = await registry.client.getMethod({ orgId, methodId });
    return method?.status === 'building' ? null : method;
  });
}

const build = async (bytes: Buffer) => await built(await recordedMethod(registry.uploads, orgId, bytes));

describe('the build of a recording', { timeout: 300_000 }, () => {
  for (const [kind, bytes] of [
    ['HAR', SHOP_HAR],
    ['Chrome Recorder', TABLE_RECORDING],
  ] as const) {
    test(`${kind}: a draft that compiles, and lists what a person must check`, async () => {
      const method = await build(bytes);
      equal(method.status, 'ready');
      equal(method.displayName, 'refund an order');
      deepEqual(method.availableRecords, ['source', 'recording']);
      equal(method.build?.state, 'succeeded');
      equal(method.build.attempts, 1);
      equal(method.publishedVersion, '');
      const { version } = await registry.client.getVersion({ orgId, methodId: method.methodId });
      const source = Buffer.from(version?.source ?? []).toString();
      match(source, /^# Draft from a recording\. Review it before publishing:\n# {2}- /);
      ok(compileMethod(source).method !== null);
      equal(version?.reason, 'Draft of the recording refund an order.har');
      equal(version?.createdBy?.kind, 'system');
    });
  }

  for (const [what, bytes, error] of [
    [
      'no JSON',
      Buffer.from('<har>'),
      'The file is not JSON: upload the recording as the browser saved it, not packed.',
    ],
    ['a packed file', gzipSync(Buffer.alloc(10_000_000)), /not JSON/],
    ['JSON of another kind', Buffer.from('{"hello":[]}'), 'The file is neither HAR nor a Chrome Recorder file.'],
    ['an empty HAR', Buffer.from('{"log":{"entries":[]}}'), 'Nothing in the recording is left that a step could do.'],
    ['nesting without end', Buffer.from('['.repeat(3_000_000)), /\.$/],
    ['too many values', Buffer.from(`{"log":{"entries":[${'0,'.repeat(5_000_000)}0]}}`), /^The recording has too many/],
  ] as const) {
    test(`${what}: failed with a sentence, and no version`, async () => {
      const method = await build(bytes);
      equal(method.status, 'failed');
      equal(method.build?.state, 'failed');
      if (typeof error === 'string') equal(method.build.error, error);
      else match(method.build.error, error);
      equal(method.currentVersion, '');
      deepEqual(method.availableRecords, ['recording']);
    });
  }

  test('a failed build is tried again on the same method, with one log line for each', async () => {
    const { client, sql } = registry;
    const { methodId } = await build(Buffer.from('<har>'));
    const { method } = await client.retryBuild({ orgId, methodId, doer: TEST_DOER });
    equal(method?.status, 'building');
    equal((await built(methodId)).status, 'failed');
    const rows = await sql<{ action: string; doer_id: string }[]>`
      select action, doer_id from registry.audit where org_id = ${orgId} and target_id = ${methodId} order by audit_id`;
    deepEqual(
      rows.map((row) => row.action),
      ['method.create', 'method.build', 'method.retry', 'method.build'],
    );
    match(rows[0]?.doer_id ?? '', /^upl_/);
  });

  test('a build that did not fail is not retried', async () => {
    const { client } = registry;
    const { methodId } = await build(SHOP_HAR);
    await rejects(client.retryBuild({ orgId, methodId, doer: TEST_DOER }), { code: 'not_failed' });
    const { method } = await client.createMethod({
      doer: TEST_DOER,
      orgId,
      idempotencyHash: Buffer.alloc(32, 7),
      source: methodSource('By hand'),
    });
    await rejects(client.retryBuild({ orgId, methodId: method?.methodId ?? ('' as MethodId), doer: TEST_DOER }), {
      code: 'not_failed',
    });
  });

  test('a version saved by hand in place of a failed draft makes the method ready, and stays', async () => {
    const { client } = registry;
    const { methodId } = await build(Buffer.from('<har>'));
    const source = methodSource('By hand');
    const { version } = await client.saveVersion({ doer: TEST_DOER, orgId, methodId, baseVersion: '', source });
    equal((await built(methodId)).status, 'ready');
    await client.retryBuild({ orgId, methodId, doer: TEST_DOER });
    const method = await built(methodId);
    equal(method.currentVersion, version?.versionId);
  });

  test('the registry answers while a hostile recording is compiled', async () => {
    const hostile = Buffer.from(`{"log":{"entries":[${'[],'.repeat(6_000_000)}[]]}}`);
    const methodId = await recordedMethod(registry.uploads, orgId, hostile);
    let answers = 0;
    const method = await until(
      'the build ends',
      async () => {
        const { method } = await registry.client.getMethod({ orgId, methodId });
        if (method?.status !== 'building') return method;
        answers++;
        return null;
      },
      120_000,
    );
    equal(method.status, 'failed');
    ok(answers > 5, `${answers} answers meanwhile`);
  });
});
