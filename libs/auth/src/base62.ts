// Base 62 at a fixed width: secrets that survive double-click selection, URLs and shells, in a format that scanners
// recognize.
import { randomBytes } from 'node:crypto';

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
