// The request by which a script gets a token from the provider; see identity-server.ts. Separate from it, so that a script
// loads no provider.
import type { Audience } from './resources.ts';

export const ISSUE_TOKEN_PATH = '/development/token';

/** The body, in JSON, of a POST with the secret of the data folder as its bearer. */
export interface TokenRequest {
  readonly email: string;
  readonly organization: string;
  /** Empty: the service decides. */
  readonly role: string;
  readonly audience: Audience;
}
