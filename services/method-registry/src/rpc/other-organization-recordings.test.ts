import { deepEqual, equal } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, test } from 'node:test';
import {
  type MethodId,
  newId,
  newMethodId,
  newRunId,
  type OrgId,
  type RunId,
  type UploadId,
  type VersionId,
} from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import { until } from '@methods/test/harness/until';
import { newUpload, sendRecording } from '../../test/recordings.fixture.ts';
import {
  commonRegistry,
  newMethod,
  newOrganization,
  type RunningRegistry,
} from '../../test/running-registry.fixture.ts';

let registry: RunningRegistry;
before(async () => {
  registry = await commonRegistry();
});

const RECORDING = Buffer.from('no recording');

interface Target {
  readonly orgId: OrgId;
  /** Complete, and used by the method. */
  readonly uploadId: UploadId;
  /** Its build failed. */
  readonly methodId: MethodId;
  readonly versionId: VersionId;
  readonly runId: RunId;
}

/** Every RPC that acts on an upload, a build, the record of a run, or on a method without saving a version. */
const acts: Record<string, (target: Target) => Promise<unknown>> = {
  getUpload: (target) => registry.uploads.getUpload(target),
  appendUpload: (target) => registry.uploads.appendUpload({ ...target, offsetBytes: 0, chunk: RECORDING }),
  createMethodOfUpload: ({ orgId, uploadId }) =>
    registry.client.createMethod({ orgId, uploadId, idempotencyHash: randomBytes(32), doer: TEST_DOER }),
  updateMethod: (target) => registry.client.updateMethod({ ...target, displayName: 'Taken over', doer: TEST_DOER }),
  listVersions: (target) => registry.client.listVersions(target),
  putRunRecord: (target) =>
    registry.runs.putRunRecord({ ...target, runId: newRunId(1), sequence: 1, inspectionJson: '{}', doer: TEST_DOER }),
  getRunRecord: (target) => registry.runs.getRunRecord(target),
  // Last: it ends the failed state of the build.
  retryBuild: (target) => registry.client.retryBuild({ ...target, doer: TEST_DOER }),
};

async function refusal(act: Promise<unknown>) {
  try {
    await act;
  } catch (error) {
    if (error instanceof ServiceError) return { code: error.code, message: error.message, facts: error.facts };
    throw error;
  }
  return null;
}

async function owned(): Promise<Target> {
  const { client, uploads, runs } = registry;
  const orgId = await newOrganization(client);
  const { upload } = await newUpload(uploads, orgId, RECORDING.length);
  const uploadId = upload?.uploadId ?? 'upl_none';
  const methodId = (await sendRecording(uploads, { orgId, uploadId }, RECORDING))?.method?.methodId ?? ('' as MethodId);
  await until('the build fails', async () => {
    return (await client.getMethod({ orgId, methodId })).method?.status === 'failed';
  });
  const { version } = await client.saveVersion({
    orgId,
    methodId,
    source: (await sourceOf(await newMethod(client, orgId), orgId)) ?? Buffer.alloc(0),
    doer: TEST_DOER,
  });
  const versionId = version?.versionId ?? 'ver_none';
  const runId = newRunId(1);
  await runs.putRunRecord({ orgId, methodId, versionId, runId, sequence: 1, inspectionJson: '{}', doer: TEST_DOER });
  return { orgId, uploadId, methodId, versionId, runId };
}

async function sourceOf({ methodId }: { methodId: MethodId }, orgId: OrgId) {
  return (await registry.client.getVersion({ orgId, methodId })).version?.source;
}

describe("another organization's recordings, builds and run records", { timeout: 300_000 }, () => {
  for (const [name, act] of Object.entries(acts)) {
    test(`${name} refuses them like missing or malformed ones`, async () => {
      const theirs = await owned();
      const orgId = await newOrganization(registry.client);
      const foreign = await refusal(act({ ...theirs, orgId }));
      equal(foreign?.code, 'not_found');
      const missing: Target = {
        orgId,
        uploadId: newId('upl'),
        methodId: newMethodId(),
        versionId: newId('ver'),
        runId: newRunId(1),
      };
      deepEqual(await refusal(act(missing)), foreign);
      const malformed = {
        orgId,
        uploadId: 'upl_' as const,
        methodId: "' or 1=1" as MethodId,
        versionId: 'ver_\0' as const,
        runId: 'run_' as const,
      };
      equal((await refusal(act(malformed)))?.code, 'not_found');
      for (const nowhere of [newId('org'), '', 'a\0b']) {
        equal((await refusal(act({ ...theirs, orgId: nowhere as OrgId })))?.code, 'not_found');
      }
      equal(await refusal(act(theirs)), null);
    });
  }

  test('nothing of theirs changed, is listed or found', async () => {
    const { client, uploads, runs, sql } = registry;
    const theirs = await owned();
    const idempotencyHash = randomBytes(32);
    const tokenSha256 = randomBytes(32);
    await newUpload(uploads, theirs.orgId, 10, { idempotencyHash, tokenSha256 });
    const state = async () => [
      await client.getMethod(theirs),
      await uploads.getUpload(theirs),
      await runs.getRunRecord(theirs),
      (await sql`select count(*)::int as n from registry.audit where org_id = ${theirs.orgId}`)[0]?.n,
    ];
    const before = await state();
    const orgId = await newOrganization(client);
    for (const act of Object.values(acts)) await refusal(act({ ...theirs, orgId }));
    deepEqual((await client.listMethods({ orgId })).methods, []);
    deepEqual((await runs.listRunRecords({ orgId })).records, []);
    equal((await client.findCreation({ orgId, idempotencyHash })).found, false);
    const mine = await newUpload(uploads, orgId, 10, { idempotencyHash });
    equal(mine.created, true, 'a key is one of its organization');
    deepEqual(await state(), before);
    equal((await uploads.resolveUploadToken({ tokenSha256 })).upload?.orgId, theirs.orgId);
  });

  test('nothing is created in an organization that does not exist', async () => {
    for (const orgId of [newId('org'), 'a\0b']) {
      equal((await refusal(newUpload(registry.uploads, orgId as OrgId, 10)))?.code, 'not_found');
    }
  });
});
