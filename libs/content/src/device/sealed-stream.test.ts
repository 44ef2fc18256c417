import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { ContentKey } from './content-key.ts';
import { CHUNK_BYTES, openStream, sealStream } from './sealed-stream.ts';

const run = new ContentKey('A'.repeat(43), 'org_1').ofRun('0123456789abcdef'.repeat(2));
const DAMAGED = { code: 'sealed_value_damaged' };

async function sealed(plain: Uint8Array): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  for await (const part of sealStream(run, 'file', [plain])) parts.push(part);
  return parts;
}

const opened = (parts: Iterable<Uint8Array>) => buffer(openStream(run, 'file', parts));

describe('a sealed stream', () => {
  const plain = randomBytes(2 * CHUNK_BYTES + 7);

  test('opens byte by byte as it does at once', async () => {
    const short = plain.subarray(0, 300);
    const all = Buffer.concat(await sealed(short));
    assert.deepEqual(await opened(Array.from(all, (byte) => Buffer.from([byte]))), short);
    assert.deepEqual(await opened([Buffer.concat(await sealed(plain))]), plain);
  });

  test('returns each chunk as soon as it has arrived', async () => {
    const [salt = Buffer.alloc(0), first = Buffer.alloc(0)] = await sealed(plain);
    const stream = openStream(run, 'file', [salt, first]);
    assert.deepEqual((await stream.next()).value, plain.subarray(0, CHUNK_BYTES));
    await assert.rejects(stream.next(), DAMAGED);
  });

  test('without its end, with more after it, in another order or with a chunk twice is refused', async () => {
    const [salt = Buffer.alloc(0), a = Buffer.alloc(0), b = Buffer.alloc(0), c = Buffer.alloc(0)] = await sealed(plain);
    const wrong = [[], [salt], [salt, a, b], [salt, b, a, c], [salt, a, a, b, c], [salt, a, c], [salt, a, b, c, c]];
    for (const parts of wrong) await assert.rejects(opened(parts), DAMAGED);
    await assert.rejects(opened([salt, a, b, c, Buffer.alloc(1)]), DAMAGED);
    await assert.rejects(opened([Buffer.concat([salt, a, b, c]).subarray(0, -1)]), DAMAGED);
  });

  test('with a chunk of another stream of the same run is refused', async () => {
    const [salt = Buffer.alloc(0), a = Buffer.alloc(0), b = Buffer.alloc(0)] = await sealed(plain);
    const other = await sealed(plain);
    await assert.rejects(opened([salt, a, b, other[3] ?? Buffer.alloc(0)]), DAMAGED);
    await assert.rejects(opened([other[0] ?? Buffer.alloc(0), a]), DAMAGED);
  });

  test('is refused as a stream of another kind', async () => {
    const parts = await sealed(plain);
    await assert.rejects(buffer(openStream(run, 'folder', parts)), DAMAGED);
  });

  test('that announces an impossible chunk is refused before the chunk is held', async () => {
    for (const length of [0, 81, CHUNK_BYTES + 83, 0xffffffff]) {
      const announced = Buffer.alloc(4);
      announced.writeUInt32BE(length);
      await assert.rejects(opened([randomBytes(16), announced]), DAMAGED);
    }
  });
});
