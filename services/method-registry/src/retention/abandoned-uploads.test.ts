import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { OrgId, UploadId } from '@methods/base/ids';
import { BlobError } from '@methods/blobs/blob-store';
import { PostgresBlobStore } from '@methods/blobs/postgres-blob-store';
import { silentLogger } from '@methods/logging/logger';
import { OrganizationReader } from '@methods/postgres/organization-reader';
import { newUpload, sendRecording } from '../../test/recordings.fixture.ts';
import { newOrganization, type RunningRegistry, startRegistry } from '../../test/running-registry.fixture.ts';
import { UploadStore } from '../store/upload-store.ts';
import { AbandonedUploads } from './abandoned-uploads.ts';

let registry: RunningRegistry;
let orgId: OrgId;
before(async () => {
  registry = await startRegistry();
  orgId = await newOrganization(registry.client);
});
after(() => registry.stop());

/** With `bytes` of 100 sent, and a link that expired the given time ago. */
async function halfUpload(bytes: number, ago: string, more = {}): Promise<UploadId> {
  const { upload } = await newUpload(registry.uploads, orgId, 100, more);
  const uploadId = upload?.uploadId ?? 'upl_none';
  await sendRecording(registry.uploads, { orgId, uploadId }, randomBytes(bytes));
  await registry.sql`update registry.uploads set expires_at = now() - ${ago}::interval where upload_id = ${uploadId}`;
  return uploadId;
}

async function partsOf(uploadId: UploadId): Promise<number[]> {
  const [row] = await registry.sql<{ counted: number; kept: number }[]>`
    select (select count(*)::int from registry.upload_parts where upload_id = ${uploadId}) as counted,
      (select count(*)::int from registry.blob_parts b join registry.uploads u
        on u.org_id = b.org_id and (b.blob_id in (u.upload_id, u.blob_id, u.abandoned_blob_id))
        where u.upload_id = ${uploadId}) as kept`;
  return [row?.counted ?? -1, row?.kept ?? -1];
}

function sweeper(blobs = new PostgresBlobStore(registry.sql, 'registry')) {
  const reader = new OrganizationReader({ sql: registry.sql, role: 'registry_reader' });
  return new AbandonedUploads({ uploads: new UploadStore(registry.sql, reader), blobs, logger: silentLogger });
}

describe('abandoned uploads', { timeout: 300_000 }, () => {
  test('their bytes are removed a day after the link expired; whole and younger ones stay', async () => {
    const abandoned = await halfUpload(10, '25 hours');
    const young = await halfUpload(10, '23 hours');
    const whole = await halfUpload(100, '90 days');
    equal(await sweeper().sweep(), false);
    deepEqual(await partsOf(abandoned), [0, 0]);
    deepEqual(await partsOf(young), [1, 1]);
    deepEqual(await partsOf(whole), [1, 1]);
    equal((await registry.uploads.getUpload({ orgId, uploadId: abandoned })).upload?.offsetBytes, 0);
  });

  test('an abandoned upload begins again when its key renews the link', async () => {
    const idempotencyHash = randomBytes(32);
    const uploadId = await halfUpload(10, '25 hours', { idempotencyHash });
    await sweeper().sweep();
    await newUpload(registry.uploads, orgId, 100, { idempotencyHash });
    const upload = await sendRecording(registry.uploads, { orgId, uploadId }, randomBytes(100));
    ok(upload?.method !== undefined);
    deepEqual(await partsOf(uploadId), [1, 1]);
  });

  test('more of them than one sweep removes are gone after the next, which follows soon', async () => {
    const uploadId = await halfUpload(10, '25 hours');
    await registry.sql`
      insert into registry.uploads (org_id, upload_id, token_sha256, display_name, file_name, content_type, size_bytes,
        offset_bytes, part_count, blob_id, created_by, expires_at)
      select org_id, 'upl_' || lpad(n::text, 26, '0'), sha256(n::text::bytea), '', file_name, content_type, size_bytes,
        offset_bytes, part_count, 'upl_' || n, created_by, expires_at
      from registry.uploads, generate_series(1, 120) n where upload_id = ${uploadId}`;
    equal(await sweeper().sweep(), true);
    equal(await sweeper().sweep(), false);
    equal(
      (
        await registry.sql`select from registry.uploads where method_id is null and offset_bytes > 0
      and expires_at < now() - interval '1 day'`
      ).length,
      0,
    );
  });

  test('a store that cannot remove is asked again, and nothing is forgotten meanwhile', async () => {
    const uploadId = await halfUpload(10, '25 hours');
    const lost = new PostgresBlobStore(registry.sql, 'registry');
    lost.remove = () => Promise.reject(new BlobError('unavailable', 'away'));
    equal(await sweeper(lost).sweep(), false);
    deepEqual(await partsOf(uploadId), [1, 1]);
    await sweeper().sweep();
    deepEqual(await partsOf(uploadId), [0, 0]);
  });
});
