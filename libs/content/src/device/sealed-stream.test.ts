import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { CHUNK_BYTES, type StreamKind, StreamParts, sealedParts } from '../sealed-stream-shape.ts';
import { ContentKey } from './content-key.ts';
import { openStream, sealStream } from './sealed-stream.ts';

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

describe('what the service checks of a stream that it cannot open', () => {
  const plain = randomBytes(CHUNK_BYTES + 7);
  const passed = (kind: StreamKind, parts: readonly Uint8Array[]) =>
    buffer(sealedParts(kind, Readable.from(parts) as AsyncIterable<Uint8Array>));

  test('a sealed file passes unchanged, in parts of any length', async () => {
    for (const bytes of [Buffer.alloc(0), plain.subarray(0, CHUNK_BYTES), plain]) {
      const all = Buffer.concat(await sealed(bytes));
      assert.deepEqual(await passed('file', [all]), all);
      const parts = Array.from({ length: Math.ceil(all.length / 997) }, (_, i) => all.subarray(i * 997, (i + 1) * 997));
      assert.deepEqual(await passed('file', parts), all);
    }
  });

  test('plain bytes, another kind, another order, two keys and a stream that is cut do not pass', async () => {
    const [salt = Buffer.alloc(0), a = Buffer.alloc(0), b = Buffer.alloc(0)] = await sealed(plain);
    const other = new ContentKey('B'.repeat(43), 'org_1').ofRun('0'.repeat(32));
    const theirs: Buffer[] = [];
    for await (const part of sealStream(other, 'file', [plain])) theirs.push(part);
    const changed = Buffer.from(a);
    changed[4] = 2;
    const wrong = [
      ...[
        [],
        [salt],
        [salt, a],
        [a, b],
        [salt, b, a],
        [salt, a, a, b],
        [salt, a, b, b],
        [salt, a, theirs[2] as Buffer],
      ],
      ...[
        [salt, changed, b],
        [salt, a, b.subarray(0, -1)],
        [salt, a, b, Buffer.alloc(1)],
      ],
      ...[[plain], [Buffer.from('a,b\n1,2\n')], [Buffer.alloc(500)]],
    ];
    for (const [n, parts] of wrong.entries()) await assert.rejects(passed('file', parts), DAMAGED, `case ${n}`);
    await assert.rejects(passed('folder', [salt, a, b]), DAMAGED);
  });

  test('plain bytes are refused before any of them is passed on', async () => {
    const parts = sealedParts('file', Readable.from([Buffer.alloc(40, 'plain')]) as AsyncIterable<Uint8Array>);
    await assert.rejects(parts.next(), DAMAGED);
  });
});

test('a whole file in one part is not copied for each of its chunks', () => {
  const whole = randomBytes(3 * CHUNK_BYTES);
  const parts = new StreamParts();
  parts.add(whole);
  for (let at = 0; at < 3; at++) {
    const chunk = parts.take(CHUNK_BYTES);
    assert.equal(chunk.buffer, whole.buffer);
    assert.deepEqual(chunk, whole.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES));
  }
});

test('a file for inputs is sealed to the same bytes again, and other bytes with other IVs', async () => {
  const key = new ContentKey('A'.repeat(43), 'org_1');
  const made = async (name: string, plain: string) => {
    const file = key.ofFile(name);
    return buffer(sealStream(file.key, 'file', [Buffer.from(plain)], file));
  };
  const first = await made('upload-1', 'one');
  assert.deepEqual(await made('upload-1', 'one'), first);
  const iv = (sealed: Buffer) => sealed.toString('hex', 42, 54);
  assert.notEqual(iv(await made('upload-1', 'two')), iv(first));
  assert.notEqual(key.ofFile('upload-2').contentId, key.ofFile('upload-1').contentId);
  assert.notEqual(
    new ContentKey('B'.repeat(43), 'org_1').ofFile('upload-1').contentId,
    key.ofFile('upload-1').contentId,
  );
});
