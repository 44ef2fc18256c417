// The content key of device mode: derived from the content part of a service key, it seals what must never reach the
// service. The format is in docs/device-mode.md; other implementations check themselves with
// libs/content/vectors/device-1.json.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { canonicalJson } from '@methods/base/canonical';
import { OVERHEAD_BYTES, SEALED_KIND, type SealedKind } from '../sealed-shape.ts';
import { SealedValueError } from './sealed-value-error.ts';

/** Where a sealed value belongs. It opens only there. */
export interface Place {
  readonly kind: SealedKind;
  /** Empty for inputs; `<question id> <step path>` for an answer; otherwise as docs/device-mode.md lists. */
  readonly step: string;
}

export interface Opened {
  readonly plain: Buffer;
  readonly seq: number;
}

/** A sealed value in JSON. */
export interface Sealed {
  /** The envelope in base64url without padding. */
  readonly $sealed: string;
}

export const FINGERPRINT_BYTES = 16;
/** In an envelope, after its version and kind. */
export const FINGERPRINT_AT = 2;
const VERSION = 1;
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SEQ_AT = 18;
const IV_AT = 22;
const DIGEST_AT = 34;
const HEADER_BYTES = 66;
const NO_RUN = '0'.repeat(32);
const CONTENT_PART = /^[0-9A-Za-z]{43}$/;
const CONTENT_ID = /^[0-9a-f]{32}$/;
const NO_DIGEST = Buffer.alloc(32);

export interface FileContentKey {
  /** In place of a run's: the file is sealed before its run exists. */
  readonly contentId: string;
  readonly key: RunContentKey;
  readonly salt: Buffer;
  /** Other bytes at the same place have another IV, so that a file that changes between two tries reveals nothing. */
  readonly ivOf: (seq: number, chunk: Uint8Array) => Buffer;
}

export class ContentKey {
  /** 16 bytes that name this key in each envelope. Not secret. */
  readonly fingerprint: Buffer;
  private readonly digestKey: Buffer;

  /** @param contentPart 43 base62 characters; @param randomIv replaced only where known envelopes are made */
  constructor(
    private readonly contentPart: string,
    private readonly orgId: string,
    private readonly randomIv: () => Buffer = () => randomBytes(IV_BYTES),
  ) {
    if (!CONTENT_PART.test(contentPart)) throw new TypeError('A content part has 43 base62 characters.');
    this.fingerprint = this.derive('methods/1 key').subarray(0, FINGERPRINT_BYTES);
    this.digestKey = this.derive('methods/1 digest');
  }

  /** @param contentId 32 lower-case hex characters, new for each run */
  ofRun(contentId: string): RunContentKey {
    if (!CONTENT_ID.test(contentId)) throw new TypeError('A content id has 32 lower-case hex characters.');
    const { fingerprint, orgId, randomIv } = this;
    return new RunContentKey(this.derive(`methods/1 run ${contentId}`), { fingerprint, orgId, contentId, randomIv });
  }

  /** The keyed digest by which the service recognizes a repeated start. Equal for equal JSON values. */
  digestOfInputs(inputs: unknown): Buffer {
    return this.digest('inputs\0', inputs);
  }

  digestOfAnswer(questionId: string, answer: unknown): Buffer {
    return this.digest(`answer\0${questionId}\0`, answer);
  }

  /** The key of a file that is sent for the inputs of runs. The same upload, repeated, is sealed to the same bytes. */
  ofFile(idempotencyKey: string): FileContentKey {
    const contentId = this.mac(`file\0${idempotencyKey}`).toString('hex', 0, 16);
    const salt = this.mac(`file salt\0${contentId}`).subarray(0, 16);
    const ivOf = (seq: number, chunk: Uint8Array) => {
      const number = Buffer.alloc(4);
      number.writeUInt32BE(seq);
      return this.mac(`file iv\0${contentId}\0`, number, chunk).subarray(0, IV_BYTES);
    };
    return { contentId, key: this.ofRun(contentId), salt, ivOf };
  }

  /** Another key's content part, sealed for the holders of this one. */
  wrap(fromKeyId: string, contentPart: string): Buffer {
    return this.ofRun(NO_RUN).seal({ kind: 'grant', step: fromKeyId }, Buffer.from(contentPart, 'ascii'));
  }

  /** @throws SealedValueError */
  unwrap(fromKeyId: string, wrapped: Uint8Array): string {
    const text = this.ofRun(NO_RUN).open({ kind: 'grant', step: fromKeyId }, wrapped).plain.toString('latin1');
    if (!CONTENT_PART.test(text)) throw new SealedValueError('sealed_value_damaged');
    return text;
  }

  private digest(prefix: string, value: unknown): Buffer {
    return this.mac(prefix, Buffer.from(canonicalJson(value), 'utf8'));
  }

  private mac(prefix: string, ...parts: readonly Uint8Array[]): Buffer {
    const mac = createHmac('sha256', this.digestKey).update(prefix, 'utf8');
    for (const part of parts) mac.update(part);
    return mac.digest();
  }

  private derive(info: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.contentPart, this.orgId, info, KEY_BYTES));
  }
}

/** Seals and opens the content of one run. */
export class RunContentKey {
  constructor(
    private readonly key: Buffer,
    private readonly of: {
      readonly fingerprint: Buffer;
      readonly orgId: string;
      readonly contentId: string;
      readonly randomIv: () => Buffer;
    },
  ) {}

  /** @param seq below 2^32; @param digest 32 bytes, for inputs and answers; @param iv never the same for another plain */
  seal(place: Place, plain: Uint8Array, seq = 0, digest: Buffer = NO_DIGEST, iv: Buffer = this.of.randomIv()): Buffer {
    const header = Buffer.alloc(HEADER_BYTES);
    header[0] = VERSION;
    header[1] = SEALED_KIND[place.kind];
    this.of.fingerprint.copy(header, 2);
    header.writeUInt32BE(seq, SEQ_AT);
    iv.copy(header, IV_AT);
    digest.copy(header, DIGEST_AT);
    const cipher = createCipheriv('aes-256-gcm', this.key, iv, { authTagLength: TAG_BYTES });
    cipher.setAAD(this.boundTo(header, place));
    return Buffer.concat([header, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  }

  /** Seals a JSON value in its canonical form. */
  sealJson(place: Place, value: unknown, seq = 0, digest: Buffer = NO_DIGEST): Sealed {
    return sealedJson(this.seal(place, Buffer.from(canonicalJson(value), 'utf8'), seq, digest));
  }

  /** @throws SealedValueError */
  open(place: Place, envelope: Uint8Array): Opened {
    const bytes = Buffer.from(envelope.buffer, envelope.byteOffset, envelope.byteLength);
    if (bytes.length < OVERHEAD_BYTES || bytes[0] !== VERSION || bytes[1] !== SEALED_KIND[place.kind]) throw damaged();
    // Checked before the tag: an envelope can open with two keys, since GCM does not commit to one.
    if (!bytes.subarray(2, SEQ_AT).equals(this.of.fingerprint)) throw new SealedValueError('content_key_missing');
    const iv = bytes.subarray(IV_AT, DIGEST_AT);
    const cipher = createDecipheriv('aes-256-gcm', this.key, iv, { authTagLength: TAG_BYTES });
    cipher.setAAD(this.boundTo(bytes.subarray(0, HEADER_BYTES), place));
    cipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const plain = cipher.update(bytes.subarray(HEADER_BYTES, -TAG_BYTES));
    try {
      cipher.final();
    } catch {
      throw damaged();
    }
    return { plain, seq: bytes.readUInt32BE(SEQ_AT) };
  }

  /** @throws SealedValueError, also for what is no sealed value */
  openJson(place: Place, value: unknown): unknown {
    const { plain } = this.open(place, envelopeOf(value));
    try {
      return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(plain));
    } catch {
      throw damaged();
    }
  }

  private boundTo(header: Buffer, { step }: Place): Buffer {
    const { orgId, contentId } = this.of;
    const parts = [orgId, contentId, step].flatMap((text) => {
      const bytes = Buffer.from(text, 'utf8');
      const length = Buffer.alloc(2);
      length.writeUInt16BE(bytes.length);
      return [length, bytes];
    });
    return Buffer.concat([header, ...parts]);
  }
}

export function sealedJson(envelope: Buffer): Sealed {
  return { $sealed: envelope.toString('base64url') };
}

/** @throws SealedValueError when it is no `{"$sealed": …}` */
function envelopeOf(value: unknown): Buffer {
  const text = (value as Partial<Sealed> | null | undefined)?.$sealed;
  if (typeof text !== 'string') throw damaged();
  return Buffer.from(text, 'base64url');
}

function damaged(): SealedValueError {
  return new SealedValueError('sealed_value_damaged');
}
