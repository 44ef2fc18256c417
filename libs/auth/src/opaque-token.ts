// Tokens without meaning by themselves: of sessions, sign-ins and uploads. Their issuer stores only the hash, so stored
// data opens nothing.
import { createHash, randomBytes } from 'node:crypto';
import { SECRET_BYTES, secretText } from './key-text.ts';

const FORM = /^[A-Za-z0-9_-]{43}$/;

/** 256 random bits, 43 base64url characters. */
export function newOpaqueToken(): string {
  return randomBytes(32).toString('base64url');
}

/** A text of another form is never looked up. */
export function isOpaqueToken(text: string): boolean {
  return FORM.test(text);
}

/**
 * SHA-256 of the token's ASCII text, by which it is stored. A slow hash is not needed, since the token cannot be
 * guessed.
 */
export function opaqueTokenSha256(token: string): Buffer {
  return createHash('sha256').update(token, 'ascii').digest();
}

/** 256 random bits as 43 characters in base 62. */
export function randomSecret(): string {
  return secretText(randomBytes(SECRET_BYTES));
}
