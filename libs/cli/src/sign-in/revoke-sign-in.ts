// Revokes a sign-in at its issuer (RFC 7009), so that copies of its tokens are useless.
import { discoverIssuer } from './issuer-client.ts';
import { issuerFault } from './issuer-fault.ts';
import type { SignIn } from './sign-in-store.ts';

/** False: the issuer has no such thing. With the refresh token go the access tokens of the same grant. @throws CommandError */
export async function revokeSignIn(signIn: SignIn): Promise<boolean> {
  const configuration = await discoverIssuer(signIn);
  if (configuration.serverMetadata().revocation_endpoint === undefined) return false;
  const { tokenRevocation } = await import('openid-client');
  const { refreshToken, accessToken } = signIn;
  try {
    if (refreshToken === null) await tokenRevocation(configuration, accessToken, { token_type_hint: 'access_token' });
    else await tokenRevocation(configuration, refreshToken, { token_type_hint: 'refresh_token' });
  } catch (error) {
    throw issuerFault(signIn.issuer, error);
  }
  return true;
}
