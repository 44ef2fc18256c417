// The state that a sign-in needs when the issuer sends the person back.
import { ServiceError } from '@methods/errors/service-error';
import { boundedText } from '../text/bounded-text.ts';

export const SIGN_IN_MINUTES = 10;
export const SESSION_DAYS = 7;

export interface SignIn {
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636: proves to the issuer that the client that redeems the code is the one that began. */
  readonly codeVerifier: string;
  /** A path of our own. */
  readonly returnTo: string;
}

/** @throws ServiceError invalid_request. */
export function signIn({ state, nonce, codeVerifier, returnTo }: SignIn): SignIn {
  return {
    state: boundedText('state', state, { min: 16, max: 256 }),
    nonce: boundedText('nonce', nonce, { min: 16, max: 256 }),
    codeVerifier: boundedText('code_verifier', codeVerifier, { min: 43, max: 128 }),
    returnTo: ownPath(boundedText('return_to', returnTo, { min: 1, max: 2_048 })),
  };
}

/** Browsers treat `//host` and `/\host` as other hosts, also after tabs and line breaks, which they drop. */
function ownPath(path: string): string {
  if (/^\/(?![/\\])[\x21-\x7e]*$/.test(path)) return path;
  throw new ServiceError('invalid_request', 'return_to is a path.', {
    findings: [{ path: '/return_to', code: 'return_to', message: 'It begins with one slash and holds visible ASCII.' }],
  });
}
