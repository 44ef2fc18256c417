// The sign-in that `methods login` stored in a file of this user: what a laptop uses in place of a service key.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Credential } from './credential.ts';
import { ConfigurationError } from './errors.ts';
import { isFresh, readJson, readSignIn, type SignIn } from './sign-in-file.ts';

interface Found {
  readonly server: string;
  readonly credential: Credential;
}

/** `server` undefined: that of the last sign-in. Null: there is none. @throws ConfigurationError */
export function storedSignIn(stateDir: string, server: string | undefined): Found | null {
  const { last, known } = Object(readJson(join(stateDir, 'methods', 'sign-ins.json'))) as Record<string, unknown>;
  const places = server === undefined ? [last] : Array.isArray(known) ? known : [];
  const place = places.map(placeOf).find((each) => each !== null && (server === undefined || each.server === server));
  if (!place) return null;
  const name = createHash('sha256').update(`${place.issuer}\n${place.server}`).digest('hex').slice(0, 16);
  const file = join(stateDir, 'methods', 'sign-ins', `${name}.json`);
  const kept = readSignIn(file);
  if (kept === null) {
    const message =
      `The sign-in at ${place.server} is in the keyring of the system, which this library does not read. Sign in with ` +
      '`METHODS_TOKEN_STORE=file methods login`, or set SERVICE_API_KEY.';
    throw new ConfigurationError('sign_in_in_keyring', message);
  }
  return { server: kept.server, credential: signInCredential(file, kept) };
}

function signInCredential(file: string, first: SignIn): Credential {
  let kept = first;
  let renewal: Promise<void> | null = null;
  const renewed = () => {
    // One renewal serves all calls that need it.
    renewal ??= import('./renewed-sign-in.ts')
      .then(async ({ renewSignIn }) => {
        kept = await renewSignIn(file, kept);
      })
      .finally(() => {
        renewal = null;
      });
    return renewal;
  };
  return {
    isKey: false,
    contentPart: undefined,
    async bearer() {
      if (!isFresh(kept)) await renewed();
      return kept.accessToken;
    },
    async renew() {
      const used = kept.accessToken;
      if (kept.refreshToken !== null) await renewed();
      return kept.accessToken !== used;
    },
  };
}

function placeOf(value: unknown): { readonly server: string; readonly issuer: string } | null {
  const { server, issuer } = Object(value) as Record<string, unknown>;
  return typeof server === 'string' && typeof issuer === 'string' ? { server, issuer } : null;
}
