// The parts that the routes of signing in share once there is an issuer.
import type { SignIn } from '../../callers/sign-in.ts';
import type { Accounts } from '../../clients/accounts.ts';

export interface SignInParts {
  readonly accounts: Accounts;
  readonly signIn: SignIn;
  readonly publicUrl: string;
}
