// The provider's secrets in its folder, created once and readable only by their owner, so that tokens and sessions
// survive restarts.
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, type JWK } from 'jose';

export interface ProviderKeys {
  /** Private keys: one RS256, one ES256. */
  readonly jwks: { readonly keys: readonly JWK[] };
  /** Sign the provider's cookies. */
  readonly cookieKeys: readonly string[];
}

const KEYS = 'keys.json';
const TOKEN_SECRET = 'token-secret';

export async function providerKeys(folder: string): Promise<ProviderKeys> {
  const file = join(folder, KEYS);
  const kept = read(file);
  if (kept !== null) return JSON.parse(kept);
  const keys: ProviderKeys = {
    jwks: { keys: await Promise.all([signingKey('RS256'), signingKey('ES256')]) },
    cookieKeys: [randomBytes(32).toString('base64url')],
  };
  write(file, JSON.stringify(keys));
  return keys;
}

/** The proof that a caller owns the data folder; see identity-server.ts. */
export function tokenSecret(folder: string): string {
  const kept = keptTokenSecret(folder);
  if (kept !== null) return kept;
  const secret = randomBytes(32).toString('base64url');
  write(join(folder, TOKEN_SECRET), secret);
  return secret;
}

/** null before the provider's first start. */
export function keptTokenSecret(folder: string): string | null {
  return read(join(folder, TOKEN_SECRET));
}

async function signingKey(alg: 'RS256' | 'ES256'): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), use: 'sig', alg, kid: randomBytes(8).toString('hex') };
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Writes all or nothing, so that a killed start leaves no half of a key. */
function write(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
