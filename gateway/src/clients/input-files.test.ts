import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { silentLogger } from '@methods/logging/logger';
import { type PutFileRequest, RunSchedulerService } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { RpcServer } from '@methods/rpc/server';
import { PeerService } from '../testing/peer-service.fixture.ts';
import { InputFiles } from './input-files.ts';

const PART_BYTES = 64 * 1024;
const PARTS = 256;
/** The connection's window of 1 MiB, and the bytes of a loopback connection that the kernel buffers. */
const AHEAD_BYTES_MAX = (PARTS * PART_BYTES) / 2;

test('the parts of a file wait at their sender until the node reads them', async () => {
  let sentBytes = 0;
  let readBytes = 0;
  let aheadBytes = 0;
  const node = new PeerService(RunSchedulerService, () => {});
  node.answer({
    findFiles: async () => ({ files: [] }),
    async putFile(requests: AsyncIterable<PutFileRequest>) {
      for await (const { chunk } of requests) {
        for (let turn = 0; turn < 10; turn++) await nextTurn();
        readBytes += chunk.length;
        aheadBytes = Math.max(aheadBytes, sentBytes - readBytes);
      }
      return { file: { fileId: 'file_1' as const, bytes: readBytes } };
    },
  });
  const server = new RpcServer({ listen: '127.0.0.1:0', services: [node.served], logger: silentLogger, graceMs: 0 });
  await server.start();
  const files = new InputFiles([`127.0.0.1:${server.port}`]);
  try {
    async function* body() {
      for (let part = 0; part < PARTS; part++) {
        sentBytes += PART_BYTES;
        yield new Uint8Array(PART_BYTES);
      }
    }
    const description = {
      orgId: 'org_a' as const,
      owner: 'key_a',
      name: 'a',
      mediaType: 'text/plain',
      bytesMax: PARTS * PART_BYTES,
    };
    const idempotencyHash = new Uint8Array(0);
    const { file } = await files.put({ ...description, idempotencyHash }, body(), new AbortController().signal);
    assert.equal(file.bytes, PARTS * PART_BYTES);
    assert.ok(aheadBytes <= AHEAD_BYTES_MAX, `${aheadBytes} bytes were on their way`);
  } finally {
    files.stop();
    await server.stop();
  }
});
