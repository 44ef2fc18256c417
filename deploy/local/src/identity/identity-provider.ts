// The OpenID provider and its rules: its questions to people, the lifetimes of its objects, and the claims of its
// tokens.
import {
  type AccessToken,
  type Client,
  type Context,
  type Grant,
  interactionPolicy,
  Provider,
  type Account as ProviderAccount,
} from 'oidc-provider';
import { type Account, type AccountStore, claimsOf } from './account.ts';
import { CLI_CLIENT_ID, DASHBOARD_CLIENT_ID, fixedClients } from './clients.ts';
import type { IdentityConfig } from './config.ts';
import type { ProviderKeys } from './key-files.ts';
import type { objectStore } from './object-store.ts';
import { confirmDevicePage, deviceCodePage, deviceDonePage } from './pages/device-pages.ts';
import { faultPage, signedOutPage, signOutPage } from './pages/sign-in-pages.ts';
import { ACCESS_TOKEN_S, type Audience, resourceIndicators, resourceServer, SCOPES } from './resources.ts';

const DAY_S = 86_400;

export interface IdentityProvider {
  readonly provider: Provider;
  /** Issues an access token like that of a command line sign-in, without the sign-in. */
  issueToken(account: Account, audience: Audience): Promise<string>;
}

export interface IdentityProviderParts {
  readonly config: IdentityConfig;
  readonly keys: ProviderKeys;
  readonly objects: ReturnType<typeof objectStore>;
  readonly accounts: AccountStore;
}

export function identityProvider({ config, keys, objects, accounts }: IdentityProviderParts): IdentityProvider {
  const audiences = { machine: config.machineAudience, mcp: config.mcpUrl };
  /** Accounts of tokens without a sign-in. */
  const accountOfToken = new WeakMap<AccessToken, Account>();
  const provider = new Provider(config.issuer, {
    adapter: objects,
    jwks: keys.jwks,
    cookies: {
      keys: keys.cookieKeys,
      // Browsers share cookies between the ports of an address, so each stack on this machine has its own names.
      names: {
        session: `identity_${config.port}`,
        interaction: `identity_${config.port}_step`,
        resume: `identity_${config.port}_resume`,
      },
    },
    clients: fixedClients(config.publicUrl),
    responseTypes: ['code'],
    scopes: SCOPES,
    claims: {
      openid: ['sub', 'org_id', 'org_name', 'role'],
      email: ['email', 'email_verified'],
      profile: ['name'],
    },
    // Claims belong into the id_token, even if there is an access token for userinfo.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    enabledJWA: {
      idTokenSigningAlgValues: ['RS256', 'ES256'],
      userinfoSigningAlgValues: ['RS256', 'ES256'],
    },
    ttl: {
      AccessToken: ACCESS_TOKEN_S,
      AuthorizationCode: 60,
      DeviceCode: 600,
      Grant: 90 * DAY_S,
      IdToken: 3_600,
      Interaction: 3_600,
      RefreshToken: 30 * DAY_S,
      Session: DAY_S,
    },
    findAccount: async (_context: Context, accountId: string): Promise<ProviderAccount | undefined> => {
      const account = await accounts.find(accountId);
      return account === null
        ? undefined
        : { accountId, claims: async () => ({ sub: accountId, ...claimsOf(account) }) };
    },
    extraTokenClaims: async (_context: unknown, token: AccessToken) => {
      const account = accountOfToken.get(token) ?? (await accounts.find(token.accountId ?? ''));
      return account === null ? undefined : claimsOf(account);
    },
    rotateRefreshToken: () => true,
    issueRefreshToken: (_context: Context, client: Client, source: { scopes: Set<string> }) =>
      client.grantTypeAllowed('refresh_token') && outlivesSession(client, source.scopes),
    expiresWithSession: (context: Context, source: { scopes: Set<string> }) =>
      !outlivesSession(context.oidc.client, source.scopes),
    loadExistingGrant: existingGrant(audiences),
    interactions: {
      policy: askingWhoEachTime(),
      url: (_context: Context, interaction: { uid: string }) => `/interaction/${interaction.uid}`,
    },
    clientBasedCORS: (_context: Context, origin: string, client: Client) =>
      client.clientAuthMethod === 'none' && client.redirectUris.some((uri) => originOf(uri) === origin),
    fetch: fetchDocument,
    renderError: faultPage,
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: (_context: Context, client: Client, token: { clientId: string }) =>
          token.clientId === client.clientId,
      },
      registration: { enabled: true, issueRegistrationAccessToken: false },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
      resourceIndicators: resourceIndicators(audiences),
      deviceFlow: {
        enabled: true,
        userCodeInputSource: deviceCodePage,
        userCodeConfirmSource: confirmDevicePage,
        successSource: deviceDonePage,
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: signOutPage(config.publicUrl),
        postLogoutSuccessSource: signedOutPage,
      },
    },
  });
  return {
    provider,
    async issueToken(account, audience) {
      const client = await provider.Client.find(CLI_CLIENT_ID);
      if (client === undefined) throw new Error('the client of the command line is missing');
      const token = new provider.AccessToken({ accountId: account.accountId, client, scope: 'openid profile email' });
      token.resourceServer = new provider.ResourceServer(audiences[audience], resourceServer(audiences[audience]));
      accountOfToken.set(token, account);
      return token.save();
    },
  };
}

/** A command line stays signed in when the browser session ends, whether or not it asked for `offline_access`. */
function outlivesSession(client: Client | undefined, scopes: ReadonlySet<string>): boolean {
  return client?.applicationType === 'native' || scopes.has('offline_access');
}

/** People often change their identity while they try things out, so every sign-in asks. */
function askingWhoEachTime(): unknown {
  const { base, Check } = interactionPolicy;
  const policy = base();
  const signedInNow = ({ oidc }: Context) => oidc.result?.login !== undefined;
  policy
    .get('login')
    .checks.add(
      new Check('who_is_asked', 'every sign-in asks who it is', (context) =>
        signedInNow(context) ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT,
      ),
    );
  return policy;
}

/** The dashboard is a part of the service itself, so no one is asked whether it may know who signs in. */
function existingGrant(audiences: Readonly<Record<Audience, string>>) {
  return async ({ oidc }: Context): Promise<Grant | undefined> => {
    const { client, provider, result, session } = oidc;
    if (client === undefined) return undefined;
    const grantId = result?.consent?.grantId ?? session.grantIdFor(client.clientId);
    const kept = grantId === undefined ? undefined : await provider.Grant.find(grantId);
    if (kept !== undefined || client.clientId !== DASHBOARD_CLIENT_ID || session.accountId === undefined) return kept;
    const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
    grant.addOIDCScope(SCOPES.join(' '));
    for (const audience of Object.values(audiences)) grant.addResourceScope(audience, SCOPES.join(' '));
    await grant.save();
    return grant;
  };
}

function originOf(uri: string): string | null {
  return URL.canParse(uri) ? new URL(uri).origin : null;
}

/**
 * Fetches metadata documents of clients; the library refuses private addresses, which include a developer's own
 * machine.
 */
function fetchDocument(url: string, options: RequestInit & { dispatcher?: unknown }): Promise<Response> {
  const { dispatcher: _refusing, ...plain } = options;
  const own = ['127.0.0.1', '[::1]', 'localhost'].includes(new URL(url).hostname);
  return fetch(url, own ? plain : options);
}
