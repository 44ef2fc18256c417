// Tokens without meaning by themselves: of sessions, sign-ins and uploads. Their issuer stores only the hash, so stored
// data opens nothing.
import { createHash, randomBytes } from 'node:crypto';

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

// Base 62 at a fixed width: secrets that survive double-click selection, URLs and shells, in a format that scanners
// recognize.
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 43 characters hold any 256-bit number: 62^43 > 2^256. */
const SECRET_CHARACTERS = 43;

/** Returns the number as exactly `width` digits, most significant first. The number must fit. */
export function base62(value: bigint, width: number): string {
  let rest = value;
  let text = '';
  for (let i = 0; i < width; i++) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

/** 256 random bits as 43 characters. */
export function randomSecret(): string {
  return base62(BigInt(`0x${randomBytes(32).toString('hex')}`), SECRET_CHARACTERS);
}
