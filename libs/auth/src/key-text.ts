// The text of secrets and of service keys, made of random bytes. Pure: the dashboard makes keys in the browser by it.

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 43 characters hold any 256-bit number: 62^43 > 2^256. */
const SECRET_CHARACTERS = 43;
const CHECKSUM_CHARACTERS = 6;
export const SECRET_BYTES = 32;

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

/**
 * 256 bits as 43 characters in base 62, at a fixed width: they survive double-click selection, URLs and shells, in a
 * format that scanners recognize.
 */
export function secretText(bytes: Uint8Array): string {
  return base62(
    bytes.reduce((number, byte) => number * 256n + BigInt(byte), 0n),
    SECRET_CHARACTERS,
  );
}

/** `sk_` + 43 base62 (auth part) + `_` + 43 base62 (content part) + 6 base62 of the CRC-32 of all before it. */
export function serviceKeyText(auth: Uint8Array, content: Uint8Array): { key: string; authPart: string } {
  const authPart = `sk_${secretText(auth)}`;
  const body = `${authPart}_${secretText(content)}`;
  return { key: body + keyChecksum(body), authPart };
}

/** `text` is ASCII. */
export function keyChecksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_CHARACTERS);
}

const CRC_OF_BYTE = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  return sum;
});

/** CRC-32 as in zlib, which browsers do not have. It uses a table, since every request with a whole key needs it. */
function crc32(text: string): number {
  let sum = -1;
  for (let at = 0; at < text.length; at++) {
    sum = (sum >>> 8) ^ (CRC_OF_BYTE[(sum ^ text.charCodeAt(at)) & 0xff] ?? 0);
  }
  return ~sum >>> 0;
}
