import { equal, rejects } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startS3 } from '@methods/blobs/s3-server.fixture';
import { Secret } from '@methods/config/environment';
import { until } from '@methods/test/harness/until';
import { newUpload, recordedMethod, SHOP_HAR, sendRecording } from '../../test/recordings.fixture.ts';
import { newOrganization, startRegistry } from '../../test/running-registry.fixture.ts';

describe('a registry with S3', { timeout: 300_000 }, () => {
  test('stores recordings only in S3, builds them from there, and waits while it is unavailable', async () => {
    const s3 = await startS3();
    const { secretAccessKey, ...options } = s3.options;
    const blobs = { kind: 's3', ...options, secretAccessKey: new Secret(secretAccessKey) } as const;
    const { client, uploads, sql, log, stop } = await startRegistry({ blobs });
    const orgId = await newOrganization(client);
    const methodId = await recordedMethod(uploads, orgId, SHOP_HAR);
    await until('the build ends', async () => (await client.getMethod({ orgId, methodId })).method?.status === 'ready');
    const [row] = await sql`select count(*)::int as n from registry.blob_parts`;
    equal(row?.n, 0);
    await s3.close();
    const { upload } = await newUpload(uploads, orgId, SHOP_HAR.length);
    const uploadId = upload?.uploadId ?? 'upl_none';
    await rejects(sendRecording(uploads, { orgId, uploadId }, SHOP_HAR), { code: 'unavailable' });
    equal((await uploads.getUpload({ orgId, uploadId })).upload?.offsetBytes, 0);
    equal(log().includes('refund'), false);
    await stop();
  });
});
