import { deepEqual, equal, notEqual, ok, rejects } from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { before, describe, test } from 'node:test';
import type { MethodId, OrgId, UploadId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import { until } from '@methods/test/harness/until';
import { newUpload, SHOP_HAR, sendRecording } from '../../test/recordings.fixture.ts';
import {
  commonRegistry,
  methodSource,
  newOrganization,
  type RunningRegistry,
} from '../../test/running-registry.fixture.ts';

const DAY_MS = 86_400_000;

let registry: RunningRegistry;
let orgId: OrgId;
before(async () => {
  registry = await commonRegistry();
  orgId = await newOrganization(registry.client);
});

const create = (size: number, more = {}) => newUpload(registry.uploads, orgId, size, more);
const append = (uploadId: UploadId, offsetBytes: number, chunk: Uint8Array, more = {}) =>
  registry.uploads.appendUpload({ orgId, uploadId, offsetBytes, chunk, ...more });

async function waiting(size: number, more = {}): Promise<UploadId> {
  const { upload } = await create(size, more);
  return upload?.uploadId ?? 'upl_none';
}

/** Returns the stored recording of a complete upload. */
async function stored(uploadId: UploadId): Promise<Buffer> {
  const rows = await registry.sql<{ bytes: Buffer }[]>`
    select b.bytes from registry.upload_parts p
    join registry.blob_parts b on b.org_id = p.org_id and b.blob_id = p.blob_id and b.part_name = p.part_name
    where p.upload_id = ${uploadId} order by p.offset_bytes`;
  return Buffer.concat(rows.map((row) => row.bytes));
}

describe('CreateUpload', () => {
  test('a link waits for bytes for a day', async () => {
    const begun = Date.now();
    const { upload, created } = await create(10, { displayName: 'Refunds' });
    equal(created, true);
    equal(upload?.state, 'waiting');
    equal(upload.offsetBytes, 0);
    equal(upload.sizeBytes, 10);
    equal(upload.displayName, 'Refunds');
    equal(upload.fileName, 'refund an order.har');
    equal(upload.method, undefined);
    ok(Math.abs(upload.expiresAtMs - begun - DAY_MS) < 10_000);
    const { uploadId } = upload;
    deepEqual((await registry.uploads.getUpload({ orgId, uploadId })).upload, upload);
  });

  test('a repeated key gets the same upload with another token, and the first one is refused from then on', async () => {
    const idempotencyHash = randomBytes(32);
    const [first, second] = [randomBytes(32), randomBytes(32)];
    const one = await create(10, { idempotencyHash, tokenSha256: first });
    const two = await create(0, { idempotencyHash, tokenSha256: second, fileName: '' });
    equal(two.created, false);
    equal(two.upload?.uploadId, one.upload?.uploadId);
    const { uploads } = registry;
    equal((await uploads.resolveUploadToken({ tokenSha256: second })).upload?.uploadId, one.upload?.uploadId);
    await rejects(uploads.resolveUploadToken({ tokenSha256: first }), { code: 'unauthorized' });
    // The same token again is a repeat after a lost reply.
    equal((await create(10, { idempotencyHash, tokenSha256: second })).upload?.uploadId, one.upload?.uploadId);
  });

  test('50 simultaneous requests with one key create one upload', async () => {
    const idempotencyHash = randomBytes(32);
    const replies = await Promise.all(Array.from({ length: 50 }, () => create(10, { idempotencyHash })));
    equal(new Set(replies.map(({ upload }) => upload?.uploadId)).size, 1);
    equal(replies.filter(({ created }) => created).length, 1);
  });

  test('sizes and texts are bounded', async () => {
    equal((await create(200 * 1024 * 1024)).created, true);
    await rejects(create(200 * 1024 * 1024 + 1), { code: 'too_large' });
    for (const size of [0, -1, 1.5, Number.NaN]) await rejects(create(size), { code: 'invalid_request' });
    for (const more of [
      { fileName: '' },
      { fileName: 'x'.repeat(256) },
      { fileName: 'a\0' },
      { contentType: '' },
      { contentType: 'x'.repeat(256) },
      { displayName: 'x'.repeat(201) },
      { tokenSha256: randomBytes(31) },
      { idempotencyHash: randomBytes(33) },
    ]) {
      await rejects(create(10, more), { code: 'invalid_request' });
    }
  });

  test('a token of another upload is refused', async () => {
    const tokenSha256 = randomBytes(32);
    await create(10, { tokenSha256 });
    await rejects(create(10, { tokenSha256 }), { code: 'invalid_request' });
  });

  test('unknown, expired and malformed tokens are refused alike', async () => {
    const tokenSha256 = randomBytes(32);
    const uploadId = await waiting(10, { tokenSha256 });
    await registry.sql`update registry.uploads set expires_at = now() where upload_id = ${uploadId}`;
    for (const token of [tokenSha256, randomBytes(32), randomBytes(3), Buffer.alloc(0)]) {
      await rejects(registry.uploads.resolveUploadToken({ tokenSha256: token }), {
        code: 'unauthorized',
        message: 'The request carries no valid credential.',
      });
    }
  });
});

describe('AppendUpload', { timeout: 300_000 }, () => {
  test('the last byte creates the method, and the recording is stored byte for byte', async () => {
    const recording = Buffer.concat([SHOP_HAR, Buffer.alloc(2_500_000, ' ')]);
    const uploadId = await waiting(recording.length);
    const upload = await sendRecording(registry.uploads, { orgId, uploadId }, recording);
    ok(['received', 'building', 'ready'].includes(upload?.state ?? ''));
    equal(upload?.offsetBytes, recording.length);
    equal(upload.method?.displayName, 'refund an order');
    deepEqual(await stored(uploadId), recording);
    const ready = await until('the build ends', async () => {
      const reply = await registry.uploads.getUpload({ orgId, uploadId });
      return reply.upload?.state === 'ready' ? reply.upload : null;
    });
    equal(ready.method?.methodId, upload.method?.methodId);
    equal(ready.method?.status, 'ready');
  });

  test('stored bytes are skipped: repeats and overlaps are harmless', async () => {
    const bytes = randomBytes(1000);
    const uploadId = await waiting(1000);
    await append(uploadId, 0, bytes.subarray(0, 400));
    equal((await append(uploadId, 0, bytes.subarray(0, 400))).upload?.offsetBytes, 400);
    equal((await append(uploadId, 100, bytes.subarray(100, 200))).upload?.offsetBytes, 400);
    equal((await append(uploadId, 200, bytes.subarray(200, 700))).upload?.offsetBytes, 700);
    equal((await append(uploadId, 700, Buffer.alloc(0))).upload?.offsetBytes, 700);
    const { upload } = await append(uploadId, 0, bytes);
    const again = await append(uploadId, 900, bytes.subarray(900));
    equal(again.upload?.method?.methodId, upload?.method?.methodId);
    deepEqual(await stored(uploadId), bytes);
  });

  test('20 senders of the same bytes create one recording and one method', async () => {
    const bytes = randomBytes(2000);
    const uploadId = await waiting(2000);
    await Promise.allSettled(
      Array.from({ length: 20 }, async (_, sender) => {
        const step = 100 + sender * 13;
        for (let at = 0; at < bytes.length; at += step) await append(uploadId, at, bytes.subarray(at, at + step));
      }),
    );
    await append(uploadId, 0, bytes);
    deepEqual(await stored(uploadId), bytes);
    const [count] = await registry.sql`
      select count(*)::int as n from registry.builds where upload_id = ${uploadId}`;
    equal(count?.n, 1);
  });

  test('a gap is refused, with the offset at which to continue', async () => {
    const uploadId = await waiting(1000);
    await append(uploadId, 0, randomBytes(10));
    for (const offset of [11, 999, -1, 0.5]) {
      await rejects(append(uploadId, offset, randomBytes(1)), (error: ServiceError) => {
        equal(error.code, 'invalid_request');
        equal(error.facts.offset, '10');
        return true;
      });
    }
  });

  test('more than announced, and chunks over 1 MiB, are too large, and nothing of them is stored', async () => {
    const uploadId = await waiting(10);
    await rejects(append(uploadId, 0, randomBytes(11)), { code: 'too_large' });
    const large = await waiting(3 * 1024 * 1024);
    await rejects(append(large, 0, randomBytes(1024 * 1024 + 1)), { code: 'too_large' });
    equal((await append(large, 0, randomBytes(1024 * 1024))).upload?.offsetBytes, 1024 * 1024);
    equal((await registry.uploads.getUpload({ orgId, uploadId })).upload?.offsetBytes, 0);
  });

  test('an expired link accepts nothing, until its key renews it', async () => {
    const idempotencyHash = randomBytes(32);
    const uploadId = await waiting(10, { idempotencyHash });
    await append(uploadId, 0, randomBytes(4));
    await registry.sql`update registry.uploads set expires_at = now() - interval '1 s' where upload_id = ${uploadId}`;
    await rejects(append(uploadId, 4, randomBytes(6)), { code: 'unauthorized' });
    await create(10, { idempotencyHash });
    equal((await append(uploadId, 4, randomBytes(6))).upload?.offsetBytes, 10);
  });

  test('the sender of the last byte is in the audit log', async () => {
    const uploadId = await waiting(4);
    const doer = { kind: 'upload', id: uploadId, ip: '203.0.113.9', requestId: 'req-9' };
    const { upload } = await append(uploadId, 0, randomBytes(4), { doer });
    const [line] = await registry.sql`
      select doer_id, ip, after from registry.audit where target_id = ${upload?.method?.methodId ?? ('' as MethodId)}
        and action = 'method.create'`;
    deepEqual(
      { ...line },
      {
        doer_id: uploadId,
        ip: '203.0.113.9',
        after: { display_name: 'refund an order', upload_id: uploadId },
      },
    );
    equal(upload?.method?.createdBy?.id, TEST_DOER.id);
  });
});

describe('creation keys', () => {
  const hashOf = (key: string) => createHash('sha256').update(key).digest();

  test('an upload creates its method under its own key, and another key gets the same one', async () => {
    const { client } = registry;
    const [own, other] = [randomBytes(32), randomBytes(32)];
    const uploadId = await waiting(4, { idempotencyHash: own });
    const byUpload = (idempotencyHash: Buffer, id = uploadId) =>
      client.createMethod({ orgId, idempotencyHash, uploadId: id, doer: TEST_DOER });
    await rejects(byUpload(other), (error: ServiceError) => {
      equal(error.code, 'invalid_request');
      equal(error.findings[0]?.code, 'upload_incomplete');
      return true;
    });
    equal((await client.findCreation({ orgId, idempotencyHash: other })).found, false);
    const pending = await client.findCreation({ orgId, idempotencyHash: own });
    deepEqual([pending.found, pending.method], [true, undefined]);
    const methodId = (await append(uploadId, 0, randomBytes(4))).upload?.method?.methodId;
    for (const key of [own, other, other]) {
      const { method, version, created } = await byUpload(key);
      deepEqual([method?.methodId, version, created], [methodId, undefined, false]);
      equal((await client.findCreation({ orgId, idempotencyHash: key })).method?.methodId, methodId);
    }
    await rejects(byUpload(randomBytes(32), 'upl_'), { code: 'not_found' });
  });

  test('a key of one route is a conflict on the other, in either order', async () => {
    const { client } = registry;
    const byMethod = hashOf('made a method first');
    const source = methodSource('First');
    await client.createMethod({ orgId, idempotencyHash: byMethod, source, doer: TEST_DOER });
    await rejects(create(10, { idempotencyHash: byMethod }), { code: 'idempotency_conflict' });

    const byUpload = hashOf('made an upload first');
    await create(10, { idempotencyHash: byUpload });
    for (const more of [{ source }, { agentPrompt: 'Do it.' }, { uploadId: await waiting(10) }]) {
      await rejects(client.createMethod({ orgId, idempotencyHash: byUpload, doer: TEST_DOER, ...more }), {
        code: 'idempotency_conflict',
      });
    }
  });

  test('of simultaneous requests on both routes with one key, one succeeds and the other is refused', async () => {
    const { client } = registry;
    for (let round = 0; round < 10; round++) {
      const idempotencyHash = randomBytes(32);
      const outcomes = await Promise.allSettled([
        create(10, { idempotencyHash }),
        client.createMethod({ orgId, idempotencyHash, source: methodSource('Race'), doer: TEST_DOER }),
      ]);
      const [lost, ...more] = outcomes.filter((outcome) => outcome.status === 'rejected');
      deepEqual(more, []);
      ok(lost?.reason instanceof ServiceError);
      equal(lost.reason.code, 'idempotency_conflict');
    }
  });

  test('a creation key returns the method it created', async () => {
    const { client } = registry;
    const idempotencyHash = randomBytes(32);
    const none = await client.findCreation({ orgId, idempotencyHash });
    deepEqual([none.found, none.method, none.versionId], [false, undefined, '']);
    const made = await client.createMethod({ orgId, idempotencyHash, source: methodSource('F'), doer: TEST_DOER });
    const found = await client.findCreation({ orgId, idempotencyHash });
    deepEqual([found.found, found.method, found.versionId], [true, made.method, made.version?.versionId]);
    notEqual(found.versionId, '');
    await rejects(client.findCreation({ orgId, idempotencyHash: randomBytes(31) }), { code: 'invalid_request' });
  });
});
