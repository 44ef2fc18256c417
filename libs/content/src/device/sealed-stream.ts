// Run folders and files in device mode: a stream of sealed chunks, so that neither side holds a whole file. A chunk that
// is missing, moved, repeated or from another stream is refused.
import { randomBytes } from 'node:crypto';
import { CHUNK_BYTES, framed, SALT_BYTES, type StreamKind, StreamParts, seqOf } from '../sealed-stream-shape.ts';
import { FINGERPRINT_AT, FINGERPRINT_BYTES, type FileContentKey, type RunContentKey } from './content-key.ts';
import { SealedValueError } from './sealed-value-error.ts';

/** How a stream is made that is to be the same each time; by default each is another one. */
interface StreamForm {
  readonly salt: Buffer;
  readonly ivOf?: FileContentKey['ivOf'];
}

export async function* sealStream(
  key: RunContentKey,
  kind: StreamKind,
  plain: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { salt, ivOf }: StreamForm = { salt: randomBytes(SALT_BYTES) },
): AsyncGenerator<Buffer> {
  const place = { kind, step: salt.toString('hex') };
  yield salt;
  let index = 0;
  const sealed = (chunk: Buffer, isLast: boolean) => {
    const seq = seqOf(index++, isLast);
    return framed(key.seal(place, chunk, seq, undefined, ivOf?.(seq, chunk)));
  };
  const rest = new StreamParts();
  for await (const part of plain) {
    rest.add(part);
    // A full chunk waits for the next byte: only then it is known not to be the last.
    while (rest.length > CHUNK_BYTES) yield sealed(rest.take(CHUNK_BYTES), false);
  }
  yield sealed(rest.take(rest.length), true);
}

/** The key of a stream by the fingerprint that its first envelope shows. @throws SealedValueError */
export type StreamKeys = (fingerprint: Buffer) => RunContentKey;

/** @throws SealedValueError; what was returned before is then of no use */
export async function* openStream(
  keys: RunContentKey | StreamKeys,
  kind: StreamKind,
  sealed: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const rest = new StreamParts();
  let place: { readonly kind: StreamKind; readonly step: string } | null = null;
  let key = typeof keys === 'function' ? null : keys;
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
      key ??= (keys as StreamKeys)(next.subarray(FINGERPRINT_AT, FINGERPRINT_AT + FINGERPRINT_BYTES));
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
