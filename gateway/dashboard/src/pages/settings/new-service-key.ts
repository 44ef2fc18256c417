// Makes a service key in the browser: only the hash of its first part is sent, so the server never holds the part that
// opens content.
import { SECRET_BYTES, serviceKeyText } from '@methods/auth/key-text';

interface NewServiceKey {
  readonly key: string;
  /** SHA-256 of `sk_<auth part>`, in hex. */
  readonly authSha256: string;
}

export async function newServiceKey(): Promise<NewServiceKey> {
  const bytes = crypto.getRandomValues(new Uint8Array(2 * SECRET_BYTES));
  const { key, authPart } = serviceKeyText(bytes.subarray(0, SECRET_BYTES), bytes.subarray(SECRET_BYTES));
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(authPart)));
  return { key, authSha256: Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('') };
}
