// The content keys that the holder of one service key has: its own, and those whose content parts were granted to it.
import { ContentKey, FINGERPRINT_AT, FINGERPRINT_BYTES, type RunContentKey, type Sealed } from './content-key.ts';
import type { StreamKeys } from './sealed-stream.ts';
import { SealedValueError } from './sealed-value-error.ts';

/** As `GET /v1/whoami` shows it. */
export interface ShownGrant {
  readonly from_key_id: string;
  /** base64url. */
  readonly wrapped: string;
}

export class KeyRing {
  readonly own: ContentKey;
  readonly granted: readonly ContentKey[];
  /** The first key of a row of rotations: all holders of later ones have it. */
  readonly eldest: ContentKey;
  /** The ids of keys whose grants do not open. They hinder no run but those of their keys. */
  readonly damaged: readonly string[];

  constructor(contentPart: string, orgId: string, grants: readonly ShownGrant[]) {
    this.own = new ContentKey(contentPart, orgId);
    const granted: ContentKey[] = [];
    let eldest = { keyId: '', key: this.own };
    const damaged: string[] = [];
    for (const { from_key_id: keyId, wrapped } of grants) {
      try {
        const key = new ContentKey(this.own.unwrap(keyId, Buffer.from(wrapped, 'base64url')), orgId);
        granted.push(key);
        // The ids of newer keys are greater.
        if (eldest.keyId === '' || keyId < eldest.keyId) eldest = { keyId, key };
      } catch {
        damaged.push(keyId);
      }
    }
    this.granted = granted;
    this.eldest = eldest.key;
    this.damaged = damaged;
  }

  /** The key of a sealed value. If none fits it is the own one, whose refusal says so. @throws SealedValueError */
  keyOf({ $sealed: text }: Sealed): ContentKey {
    return this.keyWith(Buffer.from(text, 'base64url').subarray(FINGERPRINT_AT, FINGERPRINT_AT + FINGERPRINT_BYTES));
  }

  /** Files keep the key that sealed them, also in a run whose inputs another one sealed. */
  streamKeys(contentId: string): StreamKeys {
    return (fingerprint) => this.keyWith(fingerprint).ofRun(contentId);
  }

  runKeyOf(sealed: Sealed, contentId: string): RunContentKey {
    return this.keyOf(sealed).ofRun(contentId);
  }

  private keyWith(fingerprint: Buffer): ContentKey {
    const found = [this.own, ...this.granted].find((key) => key.fingerprint.equals(fingerprint));
    if (found === undefined && this.damaged.length > 0) {
      throw new SealedValueError('content_grant_damaged', this.damaged.join(', '));
    }
    return found ?? this.own;
  }
}
