// An independent client of tus 1.0 against ours, over a connection that breaks.

import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import type { UploadId } from '@methods/base/ids';
import { Upload } from 'tus-js-client';
import { type ApiFixture, type Asking, commonRegistryApi } from '../../testing/api.fixture.ts';

const MIB = 1024 * 1024;

let api: ApiFixture;
let member: Asking;

before(async () => {
  api = await commonRegistryApi();
  member = await api.person('member');
});
after(() => api[Symbol.asyncDispose]());

/** A connection to the gateway that breaks each time this many bytes were sent, as long as there are breaks left. */
async function lineThatBreaks(bytesBetween: number, breaks: number) {
  const line = { port: 0, breaks, server: null as unknown as Server };
  line.server = createServer((socket: Socket) => {
    const onward = connect(api.port, '127.0.0.1');
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      if (line.breaks === 0 || bytes < bytesBetween) return;
      line.breaks--;
      socket.destroy();
    });
    socket.on('error', () => {}).on('close', () => onward.destroy());
    onward.on('error', () => {}).on('close', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  line.server.listen(0, '127.0.0.1');
  await once(line.server, 'listening');
  line.port = (line.server.address() as AddressInfo).port;
  return line;
}

interface Sending {
  readonly port: number;
  readonly chunkBytes: number;
}

async function sendWithTus(bytes: Buffer, { port, chunkBytes }: Sending): Promise<{ id: string; retries: number }> {
  const { body } = await member('POST', '/api/workflow-uploads', {
    idempotency_key: randomUUID(),
    file_name: 'refund.har',
    content_type: 'application/json',
    size: bytes.length,
  });
  const { id, token, upload_url: url } = body.upload;
  let retries = 0;
  await new Promise<void>((resolve, reject) => {
    new Upload(bytes, {
      uploadUrl: `http://127.0.0.1:${port}${new URL(url).pathname}`,
      headers: { authorization: `WorkflowUpload ${token}` },
      chunkSize: chunkBytes,
      // A busy gateway may need time to store the bytes that arrived before the break.
      retryDelays: [0, 10, 20, 50, 100, 200, ...Array(60).fill(500)],
      storeFingerprintForResuming: false,
      onShouldRetry: () => {
        retries++;
        return true;
      },
      onError: reject,
      onSuccess: () => resolve(),
    }).start();
  });
  return { id, retries };
}

async function stored(uploadId: UploadId): Promise<Buffer> {
  const parts = await api.registry.sql`
    select b.bytes from registry.upload_parts p
    join registry.blob_parts b on b.org_id = p.org_id and b.blob_id = p.blob_id and b.part_name = p.part_name
    where p.upload_id = ${uploadId} order by p.offset_bytes`;
  return Buffer.concat(parts.map((part) => part.bytes));
}

test('a tus client sends a recording in one piece or in many', async () => {
  for (const chunkBytes of [Number.POSITIVE_INFINITY, MIB, 300_000]) {
    const bytes = randomBytes(3 * MIB + 17);
    const { id, retries } = await sendWithTus(bytes, { port: api.port, chunkBytes });
    assert.equal(retries, 0);
    assert.ok((await stored(id as UploadId)).equals(bytes));
    const { body } = await member('GET', `/api/workflow-uploads/${id}`);
    assert.notEqual(body.method, null);
  }
});

test('a tus client completes over a connection that breaks again and again', async () => {
  const line = await lineThatBreaks(1.5 * MIB, 4);
  const bytes = randomBytes(8 * MIB + 17);
  const { id, retries } = await sendWithTus(bytes, { port: line.port, chunkBytes: Number.POSITIVE_INFINITY });
  assert.equal(line.breaks, 0);
  assert.ok(retries >= 4);
  assert.ok((await stored(id as UploadId)).equals(bytes));
  line.server.close();
});
