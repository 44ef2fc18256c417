// Envelopes with a correct shape and random content, for tests of code that has no content key.
import { randomBytes } from 'node:crypto';
import { SEALED_KIND, type SealedKind } from './sealed-shape.ts';

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
