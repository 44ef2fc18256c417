import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, test } from 'node:test';
import { newId, type OrgId } from '@methods/base/ids';
import type { Upload } from '@methods/proto/registry/v1/upload_service_pb';
import { commonRegistryProcess, type RegistryProcess } from '@methods/test/harness/registry-process';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import { receiveRecording } from './receive-recording.ts';

const MIB = 1024 * 1024;

let registry: RegistryProcess;
let orgId: OrgId;

before(async () => {
  registry = await commonRegistryProcess();
  const organization = { issuer: 'https://id.example', externalId: 'acme', name: 'Acme' };
  orgId = (await registry.client.ensureOrganization(organization)).orgId;
});

async function announced(size: number): Promise<Upload> {
  const { upload } = await registry.uploads.createUpload({
    orgId,
    idempotencyHash: randomBytes(32),
    tokenSha256: randomBytes(32),
    fileName: 'shop.har',
    contentType: 'application/json',
    sizeBytes: size,
    doer: TEST_DOER,
  });
  assert.ok(upload);
  return upload;
}

function receive(upload: Upload, body: AsyncIterable<Buffer>, offset = 0): Promise<Upload> {
  const doer = { kind: 'upload', id: upload.uploadId, ip: '', requestId: newId('aud') } as const;
  return receiveRecording(registry.uploads, { upload, offset, body, doer });
}

async function stored({ uploadId }: Upload): Promise<Upload> {
  const { upload } = await registry.uploads.getUpload({ orgId, uploadId });
  assert.ok(upload);
  return upload;
}

async function* pieces(...parts: (Buffer | Error)[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    yield part;
  }
}

test('one byte after the whole recording prevents the method', async () => {
  const upload = await announced(2 * MIB);
  const body = pieces(randomBytes(MIB), randomBytes(MIB), randomBytes(1));
  await assert.rejects(receive(upload, body), { code: 'too_large' });
  const { state, offsetBytes, method } = await stored(upload);
  assert.deepEqual([state, offsetBytes, method], ['waiting', MIB, undefined]);
});

test('bytes that arrived before a connection broke are stored', async () => {
  const upload = await announced(2 * MIB);
  const broken = pieces(randomBytes(70_000), new Error('aborted'));
  await assert.rejects(receive(upload, broken), { code: 'invalid_request' });
  assert.equal((await stored(upload)).offsetBytes, 70_000);
});

test('a connection that broke after the last byte, without an end, creates no method', async () => {
  const upload = await announced(70_000);
  await assert.rejects(receive(upload, pieces(randomBytes(70_000), new Error('aborted'))), { code: 'invalid_request' });
  assert.equal((await stored(upload)).method, undefined);
});

test('pieces of any size are forwarded in order, and stored ones are skipped', async () => {
  const bytes = randomBytes(5 * MIB);
  const upload = await announced(bytes.length);
  const half = await receive(upload, pieces(bytes.subarray(0, 3), bytes.subarray(3, 2.5 * MIB), new Error()), 0).catch(
    () => stored(upload),
  );
  assert.equal(half.offsetBytes, 2.5 * MIB);
  const whole = await receive(half, pieces(bytes.subarray(0, 10), bytes.subarray(10)));
  assert.equal(whole.offsetBytes, bytes.length);
  const parts = await registry.sql`
    select b.bytes from registry.upload_parts p
    join registry.blob_parts b on b.org_id = p.org_id and b.blob_id = p.blob_id and b.part_name = p.part_name
    where p.upload_id = ${upload.uploadId} order by p.offset_bytes`;
  assert.ok(Buffer.concat(parts.map((part) => part.bytes)).equals(bytes));
});
