// The header `Service-Signature: t=<unix seconds>,v1=<hex>`: HMAC-SHA256 over `<t>.<raw body>`. During a rotation there
// is a `v1` for each secret that signs.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { randomSecret } from './opaque-token.ts';

const HEADER = /^t=(\d{1,12})((?:,v1=[0-9a-f]{64}){1,5})$/;
const TOLERANCE_S = 300;

type SignatureFault = 'malformed' | 'stale' | 'mismatch';

export class SignatureError extends Error {
  override readonly name = 'SignatureError';

  constructor(readonly fault: SignatureFault) {
    super(`webhook signature: ${fault}`);
  }
}

export function signatureHeader(
  secrets: string | readonly string[],
  timestampS: number,
  rawBody: string | Uint8Array,
): string {
  const all = typeof secrets === 'string' ? [secrets] : secrets;
  const macs = all.map((secret) => `,v1=${mac(secret, String(timestampS), rawBody).toString('hex')}`);
  return `t=${timestampS}${macs.join('')}`;
}

interface VerifyOptions {
  /** Now, in Unix seconds. */
  readonly nowS: number;
  /** How far the timestamp may be in the past or the future. */
  readonly toleranceS?: number;
}

/**
 * Returns normally when a signature of the header signs exactly these bytes. Compares in constant time, and before the
 * timestamp: only an authentic header is reported as stale.
 * @throws SignatureError malformed, mismatch or stale.
 */
export function verifySignature(
  rawBody: string | Uint8Array,
  header: string,
  secret: string,
  { nowS, toleranceS = TOLERANCE_S }: VerifyOptions,
): void {
  const [, timestamp, signatures] = HEADER.exec(header) ?? [];
  if (timestamp === undefined || signatures === undefined) throw new SignatureError('malformed');
  const expected = mac(secret, timestamp, rawBody);
  // All are compared, so that the time does not reveal which one matches.
  const all = signatures.split(',v1=').slice(1);
  const matching = all.filter((hex) => timingSafeEqual(expected, Buffer.from(hex, 'hex')));
  if (matching.length === 0) throw new SignatureError('mismatch');
  if (Math.abs(nowS - Number(timestamp)) > toleranceS) throw new SignatureError('stale');
}

function mac(secret: string, timestamp: string, rawBody: string | Uint8Array): Buffer {
  return createHmac('sha256', Buffer.from(secret, 'utf8')).update(`${timestamp}.`, 'utf8').update(rawBody).digest();
}

/** The secret a webhook is signed with: `whsec_` + 43 base62. The whole text, as UTF-8, is the HMAC key. */
export function createWebhookSecret(): string {
  return `whsec_${randomSecret()}`;
}
