// What a client presents to the server: a service key, or on a laptop the sign-in of the command line.
import { parseBearerKey } from '@methods/auth/service-key';
import type { Surroundings } from './config.ts';
import { ConfigurationError } from './errors.ts';
import { storedSignIn } from './stored-sign-in.ts';

export interface Credential {
  readonly isKey: boolean;
  /** Of a whole service key. It never leaves the process. */
  readonly contentPart: string | undefined;
  bearer(): string | Promise<string>;
  /** Called after a 401. Returns true if a repeat has another bearer. */
  renew?(): Promise<boolean>;
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
