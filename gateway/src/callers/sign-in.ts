// Signs in with a browser: the authorization code flow with PKCE (RFC 7636), state and nonce. This server is a client
// of the issuer here. The person's organization and name come from the ID token, or from userinfo if the token lacks
// them.

import { type Identity, identityOf, noOrganization } from '@methods/auth/identity';
import { type Issuer, issuerAway } from '@methods/auth/issuer';
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type ServerMetadata,
} from 'openid-client';
import type { SignInUnderWay } from '../clients/accounts.ts';
import type { IssuerConfig } from '../config.ts';
import { CallerRefused } from './caller-refused.ts';

export interface SignInOptions {
  readonly issuer: Issuer;
  readonly config: IssuerConfig;
  readonly publicUrl: string;
}

const TIMEOUT_S = 5;

export class SignIn {
  private known: { readonly document: object; readonly client: Configuration } | null = null;

  constructor(private readonly options: SignInOptions) {}

  /**
   * Returns the URL to send the person to, and the state to keep until they come back. `another`: the issuer asks who
   * signs in, even if it knows. @throws ServiceError unavailable
   */
  async begin(returnTo: string, another = false): Promise<{ url: string; underWay: SignInUnderWay }> {
    const client = await this.client();
    const underWay = {
      state: randomState(),
      nonce: randomNonce(),
      codeVerifier: randomPKCECodeVerifier(),
      returnTo,
    };
    const url = buildAuthorizationUrl(client, {
      redirect_uri: this.callbackUrl,
      scope: 'openid profile email',
      state: underWay.state,
      nonce: underWay.nonce,
      code_challenge: await calculatePKCECodeChallenge(underWay.codeVerifier),
      code_challenge_method: 'S256',
      ...(another && { prompt: 'login' }),
    });
    return { url: url.href, underWay };
  }

  /**
   * Returns the person who came back. `query` as the browser sent it, with its question mark. @throws CallerRefused for
   * a query that does not match this sign-in; ServiceError unavailable
   */
  async complete(query: string, { state, nonce, codeVerifier }: SignInUnderWay): Promise<Identity> {
    const current = new URL(this.callbackUrl + query);
    const client = await this.client();
    try {
      const tokens = await authorizationCodeGrant(client, current, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      });
      const claims: Record<string, unknown> = { ...tokens.claims() };
      return await this.identity(client, claims, tokens.access_token);
    } catch (error) {
      throw refusalOf(error);
    }
  }

  private get callbackUrl(): string {
    return `${this.options.publicUrl}/auth/callback`;
  }

  private async identity(client: Configuration, claims: Record<string, unknown>, token: string): Promise<Identity> {
    const { config } = this.options;
    const whole = claims[config.orgClaim] !== undefined && claims.email !== undefined;
    const more =
      whole || client.serverMetadata().userinfo_endpoint === undefined
        ? {}
        : await fetchUserInfo(client, token, String(claims.sub));
    const identity = identityOf({ ...more, ...claims }, config);
    if (identity === null) throw new CallerRefused('no_organization', noOrganization(config));
    return identity;
  }

  private async client(): Promise<Configuration> {
    const document = await this.options.issuer.metadata();
    if (this.known?.document !== document) this.known = { document, client: this.clientFor(document) };
    return this.known.client;
  }

  private clientFor(document: Record<string, unknown>): Configuration {
    const { config } = this.options;
    const metadata = document as unknown as ServerMetadata;
    const client = new Configuration(metadata, config.clientId, {}, this.authentication(metadata));
    client.timeout = TIMEOUT_S;
    // The configuration ensures that such an issuer is on this machine.
    if (config.url.startsWith('http:')) allowInsecureRequests(client);
    enableNonRepudiationChecks(client);
    return client;
  }

  private authentication({ token_endpoint_auth_methods_supported: methods = [] }: ServerMetadata): ClientAuth {
    const secret = this.options.config.clientSecret?.reveal();
    if (secret === undefined) return None();
    return methods.includes('client_secret_post') ? ClientSecretPost(secret) : ClientSecretBasic(secret);
  }
}

const AWAY_CODES: ReadonlySet<string> = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_RESPONSE_IS_NOT_CONFORM']);
const ERROR_NAME = /^[a-z_]{1,64}$/;

// The issuer's own message reaches neither a page nor the log: only the name of its error does.
function refusalOf(error: unknown): Error {
  if (error instanceof AuthorizationResponseError) {
    const name = ERROR_NAME.test(error.error) ? error.error : 'error';
    return new CallerRefused('sign_in_declined', `The identity provider did not sign you in (${name}).`);
  }
  if (error instanceof ResponseBodyError && error.status < 500) {
    return new CallerRefused('sign_in_answer', 'The identity provider does not know this sign-in any more.');
  }
  // fetch reports a failed connection as a TypeError.
  const away = error instanceof TypeError || error instanceof ResponseBodyError;
  if (away || (error instanceof ClientError && AWAY_CODES.has(error.code ?? ''))) return issuerAway(error);
  if (error instanceof ClientError) {
    return new CallerRefused('sign_in_answer', 'The answer of the identity provider does not fit this sign-in.');
  }
  return error instanceof Error ? error : issuerAway(error);
}
