// Uses a stored sign-in as the credential of requests: renewed before it expires, once for all processes of its user.
import type { Config } from '../config.ts';
import { CommandError } from '../errors/command-error.ts';
import { withFileLock } from '../files/file-lock.ts';
import type { Credential } from '../server/credential.ts';
import { discoverIssuer, issuerFault, oauthError, resourceParameter, signInOf } from './issuer-client.ts';
import { type SignIn, type SignInPurpose, SignInStore } from './sign-in-store.ts';

/** Tokens are renewed this long before they expire, to allow for a request and the difference of two clocks. */
const EARLY_MS = 60_000;

/** null: there is no sign-in to this server by this issuer. */
export async function signInCredential(
  server: string,
  issuer: string | null,
  config: Pick<Config, 'stateDir' | 'keyring'>,
  purpose: SignInPurpose = 'commands',
): Promise<Credential | null> {
  if (issuer === null) return null;
  const store = new SignInStore(config, purpose);
  let kept = await store.read(issuer, server);
  if (kept === null) return null;
  const current = kept;
  const renewed = async (signal: AbortSignal, isRefused = false) => {
    kept = await renew(store, kept ?? current, isRefused, signal, over(server, purpose));
    return kept.accessToken;
  };
  return {
    kind: 'sign-in',
    async bearer(signal) {
      const { accessToken, expiresAtMs } = kept ?? current;
      return expiresAtMs - Date.now() > EARLY_MS ? accessToken : renewed(signal);
    },
    // The server may know better than the clock: the issuer has changed its keys, or this clock is wrong.
    async renew(signal, refused) {
      const { accessToken, refreshToken } = kept ?? current;
      // Another request of this process was refused with the same one, and has renewed it meanwhile.
      if (refused !== accessToken) return true;
      return refreshToken !== null && (await renewed(signal, true)) !== refused;
    },
  };
}

/**
 * A refresh token is valid for one use, and an issuer that sees it twice ends the sign-in. So a process renews under a
 * lock, after checking whether another one has done so, and stores the reply before using it.
 */
async function renew(
  store: SignInStore,
  used: SignIn,
  isRefused: boolean,
  signal: AbortSignal,
  over: CommandError,
): Promise<SignIn> {
  const { issuer, server } = used;
  return withFileLock(store.lockFile(issuer, server), signal, async () => {
    const kept = await store.read(issuer, server);
    if (kept === null) throw over;
    if (kept.accessToken !== used.accessToken && kept.expiresAtMs - Date.now() > EARLY_MS) return kept;
    if (kept.refreshToken === null) {
      if (kept.expiresAtMs > Date.now()) return kept;
      throw over;
    }
    let fresh: SignIn;
    try {
      fresh = await refreshed(kept, kept.refreshToken);
    } catch (error) {
      if (oauthError(error) === 'invalid_grant') {
        await store.remove(issuer, server);
        throw over;
      }
      const fault = issuerFault(issuer, error);
      // An issuer that is briefly unavailable ends no sign-in early.
      if (fault.code === 'unreachable' && !isRefused && kept.expiresAtMs > Date.now()) return kept;
      throw fault;
    }
    await store.write(fresh);
    return fresh;
  });
}

async function refreshed(signIn: SignIn, refreshToken: string): Promise<SignIn> {
  const { refreshTokenGrant } = await import('openid-client');
  const issuer = await discoverIssuer(signIn);
  const reply = await refreshTokenGrant(issuer, refreshToken, resourceParameter(signIn.resource));
  return signInOf(reply, signIn);
}

function over(server: string, purpose: SignInPurpose): CommandError {
  const login = purpose === 'agents' ? 'mcp login' : 'login';
  return new CommandError('sign_in_over', 'the sign-in is over', { hint: `methods ${login} --server ${server}` });
}
