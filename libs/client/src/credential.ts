// What a client presents to the server: a service key, or on a laptop the sign-in of the command line.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { parseBearerKey } from '@methods/auth/service-key';
import type { Surroundings } from './config.ts';
import { ConfigurationError } from './errors.ts';
import { isFresh, readJson, readSignIn, type SignIn } from './sign-in-file.ts';

export interface Credential {
  readonly isKey: boolean;
  /** Of a whole service key. It never leaves the process. */
  readonly contentPart: string | undefined;
  bearer(): string | Promise<string>;
  /** Called after a 401 for a bearer. Returns true if a repeat has another. @throws ConfigurationError, ConnectionError */
  renew?(refused: string): Promise<boolean>;
}

interface Access {
  readonly credential: Credential;
  readonly baseUrl: string;
}

interface Given {
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
}

/** @throws ConfigurationError */
export function findAccess({ apiKey, baseUrl }: Given, surroundings: Surroundings): Access {
  const key = apiKey ?? surroundings.apiKey;
  const server = baseUrl ?? surroundings.server;
  if (key !== undefined) return { credential: keyCredential(key), baseUrl: addressOf(server) };
  const signIn = storedSignIn(surroundings.stateDir, server === undefined ? undefined : addressOf(server));
  if (signIn !== null) return { credential: signIn.credential, baseUrl: addressOf(signIn.server) };
  const message =
    'There is no service key. Set SERVICE_API_KEY in the environment or in .env, or give apiKey; `methods connect` ' +
    'makes a key. On your own computer a sign-in by `METHODS_TOKEN_STORE=file methods login` serves as well.';
  throw new ConfigurationError('no_key', message);
}

/** A mistyped key is found by its checksum. */
function keyCredential(text: string): Credential {
  const key = parseBearerKey(text.trim());
  if (key === null) {
    const message = 'The service key is mistyped or cut: its checksum does not fit. Copy it again as a whole.';
    throw new ConfigurationError('mistyped_key', message);
  }
  const { authPart, contentPart } = key;
  return { isKey: true, contentPart, bearer: () => authPart };
}

function addressOf(baseUrl: string | undefined): string {
  if (baseUrl !== undefined && /^https?:\/\//.test(baseUrl) && URL.canParse(baseUrl))
    return baseUrl.replace(/\/+$/, '');
  const message = 'There is no address of a server. Set METHODS_SERVER, or give baseUrl: https://….';
  throw new ConfigurationError('no_server', message);
}

// The sign-in that `methods login` stored in a file of this user: what a laptop uses in place of a service key.

interface Found {
  readonly server: string;
  readonly credential: Credential;
}

/** `server` undefined: that of the last sign-in. Null: there is none. @throws ConfigurationError */
function storedSignIn(stateDir: string, server: string | undefined): Found | null {
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
  let renewal: { readonly done: Promise<void>; readonly isRefused: boolean } | null = null;
  const renewed = (isRefused: boolean) => {
    // One renewal serves all calls that need it.
    if (renewal !== null) return renewal.done;
    const done = import('./renewed-sign-in.ts')
      .then(async ({ renewSignIn }) => {
        kept = await renewSignIn(file, kept, isRefused);
      })
      .finally(() => {
        renewal = null;
      });
    renewal = { done, isRefused };
    return done;
  };
  return {
    isKey: false,
    contentPart: undefined,
    async bearer() {
      if (!isFresh(kept)) await renewed(false);
      return kept.accessToken;
    },
    async renew(refused) {
      // A renewal that began before the refusal may keep the refused token while the issuer is unavailable.
      while (renewal?.isRefused === false) await renewal.done.catch(() => {});
      if (kept.accessToken === refused && kept.refreshToken !== null) await renewed(true);
      return kept.accessToken !== refused;
    },
  };
}

function placeOf(value: unknown): { readonly server: string; readonly issuer: string } | null {
  const { server, issuer } = Object(value) as Record<string, unknown>;
  return typeof server === 'string' && typeof issuer === 'string' ? { server, issuer } : null;
}
