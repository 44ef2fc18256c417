// Service keys: the server stores only SHA-256 of `sk_<auth part>`; the content part is for the caller's own encryption.
import { hash, randomBytes } from 'node:crypto';
import { keyChecksum, SECRET_BYTES, serviceKeyText } from './key-text.ts';

const WHOLE = /^(sk_[0-9A-Za-z]{43})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;
const AUTH_PART = /^sk_[0-9A-Za-z]{43}$/;

export interface NewServiceKey {
  /** The whole key: shown once to its owner, kept by no one else. */
  readonly key: string;
  /** `sk_<auth part>`: what a caller sends. */
  readonly authPart: string;
  readonly authSha256: Buffer;
}

export interface ParsedServiceKey {
  readonly authPart: string;
  /** 43 characters; absent when only the auth part was sent. */
  readonly contentPart?: string;
}

export function createServiceKey(): NewServiceKey {
  const { key, authPart } = serviceKeyText(randomBytes(SECRET_BYTES), randomBytes(SECRET_BYTES));
  return { key, authPart, authSha256: authSha256(authPart) };
}

/**
 * Returns the parts of a key as a caller sent it, whole or only `sk_<auth part>`, without the word Bearer; null when it
 * has another form or a wrong checksum, so that a mistyped whole key is detected without a look-up.
 */
export function parseBearerKey(text: string): ParsedServiceKey | null {
  if (AUTH_PART.test(text)) return { authPart: text };
  const [, authPart, contentPart, sum] = WHOLE.exec(text) ?? [];
  if (authPart === undefined || contentPart === undefined) return null;
  return sum === keyChecksum(`${authPart}_${contentPart}`) ? { authPart, contentPart } : null;
}

/** SHA-256 of the ASCII text `sk_<auth part>`, by which the server identifies a key. */
export function authSha256(authPart: string): Buffer {
  return hash('sha256', authPart, 'buffer');
}
