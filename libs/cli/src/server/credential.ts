// The credential of requests to a server. Its text is used only in the request's header.
import { parseBearerKey } from '@methods/auth/service-key';
import { CommandError } from '../errors/command-error.ts';

export interface Credential {
  /** Its kind, for people: `sign-in`, `service key`, `local stack` or `nothing`. */
  readonly kind: 'sign-in' | 'service-key' | 'local-stack' | 'none';
  /** The bearer for a request, or null when there is none. @throws CommandError `sign_in_over` and the like. */
  bearer(signal: AbortSignal): Promise<string | null>;
  /** What opens content in device mode; never sent. Absent: no service key, or only its auth part. */
  readonly contentPart?: string | undefined;
  /** Called after a 401 to a request with the bearer `refused`: returns true when a retry has another one. */
  renew(signal: AbortSignal, refused: string | null): Promise<boolean>;
}

export const NO_CREDENTIAL: Credential = {
  kind: 'none',
  bearer: async () => null,
  renew: async () => false,
};

/** Only the auth part is sent: the rest of a key decrypts content, which the server must not do. */
export function keyCredential(key: string, kind: 'service-key' | 'local-stack' = 'service-key'): Credential {
  return {
    kind,
    contentPart: parseBearerKey(key.trim())?.contentPart,
    bearer: async () => {
      const parsed = parseBearerKey(key.trim());
      if (parsed !== null) return parsed.authPart;
      const hint = 'copy it again, whole: sk_, 43 letters and digits, _, and 49 more';
      throw new CommandError('invalid_key', 'SERVICE_API_KEY is not a service key', { hint });
    },
    renew: async () => false,
  };
}

/** Production routes take a key; all others are for people. */
export interface Credentials {
  readonly forRuns: Credential;
  readonly forPeople: Credential;
}

export function credentialFor(path: string, { forRuns, forPeople }: Credentials): Credential {
  return path.startsWith('/v1/') ? forRuns : forPeople;
}
