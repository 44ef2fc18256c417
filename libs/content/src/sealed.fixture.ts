// Envelopes with a correct shape and random content, for tests of code that has no content key.
import { randomBytes } from 'node:crypto';
import { SEALED_KIND, type SealedKind } from './sealed-shape.ts';
import { CHUNK_BYTES, framed, SALT_BYTES, type StreamKind, seqOf } from './sealed-stream-shape.ts';

interface Envelope {
  readonly kind: SealedKind;
  /** Hex; random by default. */
  readonly fingerprint?: string;
  readonly digest?: string;
  readonly plainBytes?: number;
}

export function envelope({ kind, fingerprint, digest, plainBytes = 40 }: Envelope): Buffer {
  const bytes = randomBytes(82 + plainBytes);
  bytes[0] = 1;
  bytes[1] = SEALED_KIND[kind];
  if (fingerprint !== undefined) bytes.write(fingerprint, 2, 'hex');
  if (digest !== undefined) bytes.write(digest, 34, 'hex');
  return bytes;
}

export function sealed(of: Envelope): { readonly $sealed: string } {
  return { $sealed: envelope(of).toString('base64url') };
}

/** A stream of this shape, whose chunks no one can open. */
export function sealedStream({ kind, fingerprint, plainBytes = 40 }: Envelope & { kind: StreamKind }): Buffer {
  const key = fingerprint ?? randomBytes(16).toString('hex');
  const parts: Buffer[] = [randomBytes(SALT_BYTES)];
  for (let at = 0, index = 0; at === 0 || at < plainBytes; at += CHUNK_BYTES, index++) {
    const chunk = envelope({ kind, fingerprint: key, plainBytes: Math.min(CHUNK_BYTES, plainBytes - at) });
    chunk.writeUInt32BE(seqOf(index, at + CHUNK_BYTES >= plainBytes), 18);
    parts.push(framed(chunk));
  }
  return Buffer.concat(parts);
}
