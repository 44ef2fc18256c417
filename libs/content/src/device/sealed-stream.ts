// Run folders and files in device mode: a stream of sealed chunks, so that neither side holds a whole file. A chunk that
// is missing, moved, repeated or from another stream is refused.
import { randomBytes } from 'node:crypto';
import { OVERHEAD_BYTES } from '../sealed-shape.ts';
import type { RunContentKey } from './content-key.ts';
import { SealedValueError } from './sealed-value-error.ts';

export type StreamKind = 'folder' | 'file';

export const CHUNK_BYTES = 64 * 1024;
const SALT_BYTES = 16;
const LENGTH_BYTES = 4;
const SEALED_CHUNK_MAX = CHUNK_BYTES + OVERHEAD_BYTES;

/** The bytes that a stream of `plainBytes` has when it is sealed. */
export function sealedStreamBytes(plainBytes: number): number {
  const chunks = Math.max(1, Math.ceil(plainBytes / CHUNK_BYTES));
  return SALT_BYTES + chunks * (LENGTH_BYTES + OVERHEAD_BYTES) + plainBytes;
}

/** @param salt new for each stream; given only where known streams are made */
export async function* sealStream(
  key: RunContentKey,
  kind: StreamKind,
  plain: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  salt: Buffer = randomBytes(SALT_BYTES),
): AsyncGenerator<Buffer> {
  const place = { kind, step: salt.toString('hex') };
  yield salt;
  let index = 0;
  const sealed = (chunk: Buffer, isLast: boolean) => {
    const envelope = key.seal(place, chunk, seqOf(index++, isLast));
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(envelope.length);
    return Buffer.concat([length, envelope]);
  };
  const rest = new Bytes();
  for await (const part of plain) {
    rest.add(part);
    // A full chunk waits for the next byte: only then it is known not to be the last.
    while (rest.length > CHUNK_BYTES) yield sealed(rest.take(CHUNK_BYTES), false);
  }
  yield sealed(rest.take(rest.length), true);
}

/** @throws SealedValueError; what was returned before is then of no use */
export async function* openStream(
  key: RunContentKey,
  kind: StreamKind,
  sealed: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const rest = new Bytes();
  let place: { readonly kind: StreamKind; readonly step: string } | null = null;
  let index = 0;
  let ended = false;
  for await (const part of sealed) {
    rest.add(part);
    if (place === null) {
      if (rest.length < SALT_BYTES) continue;
      place = { kind, step: rest.take(SALT_BYTES).toString('hex') };
    }
    for (let next = rest.frame(); next !== null; next = rest.frame()) {
      if (ended) throw new SealedValueError('sealed_value_damaged');
      const { plain, seq } = key.open(place, next);
      ended = seq === seqOf(index, true);
      if (!ended && (seq !== seqOf(index, false) || plain.length !== CHUNK_BYTES)) {
        throw new SealedValueError('sealed_value_damaged');
      }
      index++;
      yield plain;
    }
  }
  if (!ended || rest.isPartial) throw new SealedValueError('sealed_value_damaged');
}

function seqOf(index: number, isLast: boolean): number {
  return index * 2 + (isLast ? 1 : 0);
}

/** Parts that arrived, taken in other lengths. They are joined once, however small they are. */
class Bytes {
  private parts: Uint8Array[] = [];
  /** Of the envelope that arrives; null: its length has not arrived. */
  private frameBytes: number | null = null;
  length = 0;

  add(part: Uint8Array): void {
    this.parts.push(part);
    this.length += part.length;
  }

  take(count: number): Buffer {
    const all = Buffer.concat(this.parts, this.length);
    this.parts = [all.subarray(count)];
    this.length -= count;
    return all.subarray(0, count);
  }

  /** The next envelope without its length; null: not all of it has arrived. */
  frame(): Buffer | null {
    if (this.frameBytes === null) {
      if (this.length < LENGTH_BYTES) return null;
      const length = this.take(LENGTH_BYTES).readUInt32BE(0);
      if (length < OVERHEAD_BYTES || length > SEALED_CHUNK_MAX) throw new SealedValueError('sealed_value_damaged');
      this.frameBytes = length;
    }
    if (this.length < this.frameBytes) return null;
    const frame = this.take(this.frameBytes);
    this.frameBytes = null;
    return frame;
  }

  /** Whether a part of an envelope waits for its rest. */
  get isPartial(): boolean {
    return this.length > 0 || this.frameBytes !== null;
  }
}
