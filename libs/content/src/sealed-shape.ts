// The shape of sealed values: what the service, which has no content key, can read of an envelope and check. The format
// is in docs/device-mode.md.

/** The kinds of envelopes. `text` is a message of a check or an error. */
export const SEALED_KIND = {
  inputs: 1,
  question: 2,
  answer: 3,
  out: 4,
  log: 5,
  folder: 6,
  text: 7,
  file: 8,
  grant: 9,
} as const;
export type SealedKind = keyof typeof SEALED_KIND;

const VERSION = 1;
export const OVERHEAD_BYTES = 82;
const FINGERPRINT = { from: 2, to: 18 } as const;
const DIGEST = { from: 34, to: 66 } as const;
const BASE64URL = /^[A-Za-z0-9_-]*$/;

export interface SealedShape {
  /** Of the content key that sealed it, in hex. */
  readonly fingerprint: string;
  /** Keyed digest of the plain value, in hex; the same value and key have the same digest. */
  readonly digest: string;
}

/** Returns null for bytes that are no envelope of this kind, or of more than `plainBytesMax` plain bytes. */
export function envelopeShape(bytes: Uint8Array, kind: SealedKind, plainBytesMax: number): SealedShape | null {
  const plainBytes = bytes.length - OVERHEAD_BYTES;
  if (plainBytes < 0 || plainBytes > plainBytesMax || bytes[0] !== VERSION || bytes[1] !== SEALED_KIND[kind]) {
    return null;
  }
  return { fingerprint: hex(bytes, FINGERPRINT), digest: hex(bytes, DIGEST) };
}

/** The envelope of a sealed value, `{"$sealed": "<base64url>"}`; null for any other value. */
export function sealedBytes(value: unknown, plainBytesMax: number): Buffer | null {
  if (typeof value !== 'object' || value === null) return null;
  const fields = Object.entries(value);
  const [name, text] = fields[0] ?? [];
  if (fields.length !== 1 || name !== '$sealed' || typeof text !== 'string') return null;
  if (text.length > sealedCharactersMax(plainBytesMax) || !BASE64URL.test(text)) return null;
  const bytes = Buffer.from(text, 'base64url');
  // One text for each envelope: bits behind the last byte are zero.
  return bytes.toString('base64url') === text ? bytes : null;
}

export function sealedShape(value: unknown, kind: SealedKind, plainBytesMax: number): SealedShape | null {
  const bytes = sealedBytes(value, plainBytesMax);
  return bytes === null ? null : envelopeShape(bytes, kind, plainBytesMax);
}

/** The same for the text of a sealed value. */
export function sealedTextShape(json: string, kind: SealedKind, plainBytesMax: number): SealedShape | null {
  if (json.length > sealedCharactersMax(plainBytesMax) + SEALED_AROUND) return null;
  try {
    return sealedShape(JSON.parse(json), kind, plainBytesMax);
  } catch {
    return null;
  }
}

/** `{"$sealed":""}`, with room for spaces. */
const SEALED_AROUND = 64;

/** The characters of a sealed value of this many plain bytes. */
function sealedCharactersMax(plainBytesMax: number): number {
  return Math.ceil(((plainBytesMax + OVERHEAD_BYTES) * 4) / 3);
}

function hex(bytes: Uint8Array, { from, to }: { readonly from: number; readonly to: number }): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('hex');
}
