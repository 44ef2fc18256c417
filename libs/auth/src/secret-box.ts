// Secrets that must be readable again, at rest: AES-256-GCM under a master key. One byte of format, 12 of nonce, the
// cipher text and 16 of tag. A random nonce is safe for 2^32 secrets under one master key.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const FORM = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MASTER_KEY_BYTES = 32;

export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError';
}

/** `aad` binds the box to its place, for example the row's id: a box moved elsewhere does not open. */
export function seal(masterKey: Buffer, plaintext: string, aad: string): Buffer {
  checkMasterKey(masterKey);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', masterKey, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(aad, 'utf8'));
  const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.of(FORM), nonce, sealed, cipher.getAuthTag()]);
}

/** @throws SecretBoxError for another master key, another `aad` or changed bytes, without saying which. */
export function open(masterKey: Buffer, box: Uint8Array, aad: string): string {
  checkMasterKey(masterKey);
  if (box.length < 1 + NONCE_BYTES + TAG_BYTES || box[0] !== FORM) throw new SecretBoxError('not a sealed secret');
  const nonce = box.subarray(1, 1 + NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', masterKey, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(aad, 'utf8'));
  decipher.setAuthTag(box.subarray(box.length - TAG_BYTES));
  try {
    const sealed = box.subarray(1 + NONCE_BYTES, box.length - TAG_BYTES);
    return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8');
  } catch {
    throw new SecretBoxError('the secret does not open');
  }
}

function checkMasterKey(masterKey: Buffer): void {
  if (masterKey.length !== MASTER_KEY_BYTES) throw new SecretBoxError(`a master key has ${MASTER_KEY_BYTES} bytes`);
}
