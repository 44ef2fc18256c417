// Renews a stored sign-in as the command line does: under its lock, since a refresh token is valid for one use, and an
// issuer that sees it twice ends the sign-in.
import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { withLockFile } from '@methods/base/lock-file';
import { ConfigurationError, ConnectionError } from './errors.ts';
import { isFresh, readSignIn, type SignIn } from './sign-in-file.ts';

const TIMEOUT_MS = 20_000;
/** Used if an issuer does not say how long an access token is valid. */
const EXPIRES_S = 300;

/** `used`: the sign-in that is no longer fresh, or was refused. @throws ConfigurationError, ConnectionError */
export async function renewSignIn(file: string, used: SignIn, isRefused: boolean): Promise<SignIn> {
  const tooLong = () => new ConfigurationError('locked', `Another process holds ${file}.lock.`);
  const lock = { ageMaxMs: 120_000, waitMaxMs: 150_000, againMs: 25, tooLong };
  const renewed = withLockFile(`${file}.lock`, lock, async () => {
    const kept = readSignIn(file);
    if (kept === null) throw over(used);
    if (kept.accessToken !== used.accessToken && isFresh(kept)) return kept;
    const isValid = kept.expiresAtMs > Date.now();
    if (kept.refreshToken === null) {
      if (isValid) return kept;
      throw over(kept);
    }
    const fresh = await refreshed(kept, kept.refreshToken).catch((error: unknown) => {
      // An issuer that is briefly unavailable ends no sign-in early.
      if (error instanceof ConnectionError && isValid && !isRefused) return null;
      throw error;
    });
    if (fresh === null) return kept;
    await replaceFile(file, `${JSON.stringify(fresh)}\n`);
    return fresh;
  });
  return renewed.catch((error: unknown) => {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    const message = `The sign-in at ${used.server} cannot be renewed: ${error.message}.`;
    throw new ConfigurationError('sign_in_not_stored', message, { cause: error });
  });
}

async function refreshed(signIn: SignIn, refreshToken: string): Promise<SignIn> {
  const { issuer, clientId, resource } = signIn;
  const { token_endpoint: endpoint, issuer: named } = await askIssuer(
    issuer,
    `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
  );
  if (typeof endpoint !== 'string' || named !== issuer) throw notAnIssuer(issuer);
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId };
  const reply = await askIssuer(issuer, endpoint, { ...form, ...(resource === null ? {} : { resource }) });
  if (reply.error !== undefined) throw over(signIn);
  const { access_token: accessToken, refresh_token: next, expires_in: expiresS } = reply;
  if (typeof accessToken !== 'string' || !isFor(accessToken, resource)) throw notAnIssuer(issuer);
  return {
    ...signIn,
    accessToken,
    refreshToken: typeof next === 'string' ? next : refreshToken,
    expiresAtMs: Date.now() + (typeof expiresS === 'number' ? expiresS : EXPIRES_S) * 1_000,
  };
}

async function askIssuer(issuer: string, url: string, form?: Record<string, string>): Promise<Record<string, unknown>> {
  if (!isProtected(url)) throw notAnIssuer(issuer);
  const body = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) };
  let status: number;
  let text: string;
  try {
    const reply = await fetch(url, { ...body, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
    status = reply.status;
    text = await reply.text();
  } catch (cause) {
    throw new ConnectionError('unreachable', `The issuer ${issuer} of the sign-in cannot be reached.`, { cause });
  }
  // Others who share the issuer may have caused a 429, so it does not end the sign-in.
  if (status >= 500 || status === 429) {
    throw new ConnectionError('unreachable', `The issuer ${issuer} is unavailable.`, { status });
  }
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    throw notAnIssuer(issuer);
  }
}

/** An issuer may ignore the requested audience and issue a token for another server, which must not reach this one. */
function isFor(accessToken: string, audience: string | null): boolean {
  if (audience === null) return true;
  try {
    const claims = Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString('utf8');
    return [(JSON.parse(claims) as { aud?: unknown }).aud].flat().includes(audience);
  } catch {
    return false;
  }
}

/** Tokens are sent over https, or within this machine. */
function isProtected(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

function over({ server }: SignIn): ConfigurationError {
  const message = `The sign-in at ${server} is over. Sign in again with \`methods login\`, or set SERVICE_API_KEY.`;
  return new ConfigurationError('sign_in_over', message);
}

function notAnIssuer(issuer: string): ConfigurationError {
  return new ConfigurationError('bad_issuer', `The issuer ${issuer} of the sign-in does not renew it as it should.`);
}

/** A concurrent reader gets the old text or the new one, and a used refresh token does not return after a power failure. */
async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.${randomUUID()}`;
  try {
    const file = await open(fresh, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}
