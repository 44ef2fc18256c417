// The shape of sealed streams: what the service, which has no content key, can read of a sealed file or folder and check,
// while it passes by. The format is in docs/device-mode.md.
import { SealedValueError } from './device/sealed-value-error.ts';
import { envelopeShape, OVERHEAD_BYTES } from './sealed-shape.ts';

export type StreamKind = 'folder' | 'file';

/** Of a sealed file. */
export const SEALED_MEDIA_TYPE = 'application/vnd.methods.sealed';

export const CHUNK_BYTES = 64 * 1024;
export const SALT_BYTES = 16;
const LENGTH_BYTES = 4;
const FRAME_BYTES = LENGTH_BYTES + OVERHEAD_BYTES;
const SEQ_AT = 18;

/** The bytes that a stream of `plainBytes` has when it is sealed. */
export function sealedStreamBytes(plainBytes: number): number {
  const chunks = Math.max(1, Math.ceil(plainBytes / CHUNK_BYTES));
  return SALT_BYTES + chunks * FRAME_BYTES + plainBytes;
}

/** The plain bytes of a sealed stream. */
export function plainStreamBytes(sealedBytes: number): number {
  const chunks = Math.ceil((sealedBytes - SALT_BYTES) / (CHUNK_BYTES + FRAME_BYTES));
  return Math.max(0, sealedBytes - SALT_BYTES - chunks * FRAME_BYTES);
}

/** The sequence number of a chunk. */
export function seqOf(index: number, isLast: boolean): number {
  return index * 2 + (isLast ? 1 : 0);
}

/** An envelope as a stream has it, behind its length. */
export function framed(envelope: Buffer): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(envelope.length);
  return Buffer.concat([length, envelope]);
}

/**
 * The parts as they come, as long as they are a sealed stream of this kind: each chunk has its place and one key, and
 * the last one ends it. @throws SealedValueError `sealed_value_damaged`, before the part at fault is returned
 */
export async function* sealedParts(kind: StreamKind, parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const rest = new StreamParts();
  let hasSalt = false;
  let fingerprint: string | null = null;
  let index = 0;
  let ended = false;
  for await (const part of parts) {
    rest.add(part);
    if (!hasSalt && rest.length >= SALT_BYTES) {
      rest.take(SALT_BYTES);
      hasSalt = true;
    }
    for (let next = hasSalt ? rest.frame() : null; next !== null; next = rest.frame()) {
      const shape = envelopeShape(next, kind, CHUNK_BYTES);
      if (ended || shape === null || shape.fingerprint !== (fingerprint ?? shape.fingerprint)) throw damaged();
      fingerprint = shape.fingerprint;
      const seq = next.readUInt32BE(SEQ_AT);
      ended = seq === seqOf(index, true);
      const isFull = next.length === CHUNK_BYTES + OVERHEAD_BYTES;
      if (!ended && (seq !== seqOf(index, false) || !isFull)) throw damaged();
      index++;
    }
    yield part;
  }
  if (!ended || rest.isPartial) throw damaged();
}

/** Parts that arrived, taken in other lengths. They are joined once, however small they are. */
export class StreamParts {
  private parts: Uint8Array[] = [];
  /** Of the envelope that arrives; null: its length has not arrived. */
  private frameBytes: number | null = null;
  length = 0;

  add(part: Uint8Array): void {
    this.parts.push(part);
    this.length += part.length;
  }

  take(count: number): Buffer {
    const [only = new Uint8Array(0)] = this.parts;
    const all =
      this.parts.length > 1
        ? Buffer.concat(this.parts, this.length)
        : // A part may be a whole file: it is not copied for each of its chunks.
          Buffer.from(only.buffer, only.byteOffset, only.byteLength);
    this.parts = [all.subarray(count)];
    this.length -= count;
    return all.subarray(0, count);
  }

  /** The next envelope without its length; null: not all of it has arrived. */
  frame(): Buffer | null {
    if (this.frameBytes === null) {
      if (this.length < LENGTH_BYTES) return null;
      const length = this.take(LENGTH_BYTES).readUInt32BE(0);
      if (length < OVERHEAD_BYTES || length > CHUNK_BYTES + OVERHEAD_BYTES) throw damaged();
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

function damaged(): SealedValueError {
  return new SealedValueError('sealed_value_damaged');
}
