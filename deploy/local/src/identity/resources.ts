// The two audiences tokens are issued for, and the refusal of every other one (RFC 8707).
import { type Client, type Context, errors } from 'oidc-provider';
import { DASHBOARD_CLIENT_ID } from './clients.ts';

export type Audience = 'machine' | 'mcp';

export const ACCESS_TOKEN_S = 900;
export const SCOPES = ['openid', 'profile', 'email', 'offline_access'];

/** The feature `resourceIndicators` of oidc-provider. */
export function resourceIndicators(audiences: Readonly<Record<Audience, string>>): Record<string, unknown> {
  return {
    enabled: true,
    defaultResource: (_context: Context, client: Client, granted?: readonly string[]) => {
      if (granted !== undefined) throw new errors.InvalidTarget('name one of the granted resources');
      // The dashboard signs people in and calls nothing: its access token opens only the provider's userinfo.
      if (client.clientId === DASHBOARD_CLIENT_ID) return undefined;
      throw new errors.InvalidTarget('name the resource the token is for');
    },
    useGrantedResource: () => true,
    getResourceServerInfo: (_context: Context, resource: string) => {
      if (!Object.values(audiences).includes(resource))
        throw new errors.InvalidTarget('this resource is not known here');
      return resourceServer(resource);
    },
  };
}

export function resourceServer(audience: string): object {
  return {
    scope: SCOPES.join(' '),
    audience,
    accessTokenFormat: 'jwt',
    accessTokenTTL: ACCESS_TOKEN_S,
    jwt: { sign: { alg: 'RS256' } },
  };
}
