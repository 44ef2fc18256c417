// The file of a stored sign-in.
import { readFileSync } from 'node:fs';

/** As the command line writes it. */
export interface SignIn {
  readonly server: string;
  readonly issuer: string;
  readonly clientId: string;
  /** The audience of the tokens. */
  readonly resource: string | null;
  readonly accessToken: string;
  /** null: the issuer gave none. */
  readonly refreshToken: string | null;
  readonly expiresAtMs: number;
}

/** Tokens are renewed this long before they expire, to allow for a request and the difference of two clocks. */
const EARLY_MS = 60_000;

/** Null: there is none, or it cannot be read. */
export function readSignIn(file: string): SignIn | null {
  const kept = Object(readJson(file)) as Partial<SignIn>;
  const texts = [kept.server, kept.issuer, kept.clientId, kept.accessToken];
  return texts.every((each) => typeof each === 'string') && typeof kept.expiresAtMs === 'number'
    ? (kept as SignIn)
    : null;
}

export function isFresh({ expiresAtMs }: SignIn): boolean {
  return expiresAtMs - Date.now() > EARLY_MS;
}

/** Undefined: there is none. */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as unknown;
  } catch {
    return undefined;
  }
}
