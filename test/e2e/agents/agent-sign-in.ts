// What a client library asks of its program while it signs a person in, kept in memory, and the person: a browser that
// signs in at the stack's identity provider and allows what is asked.
import assert from 'node:assert/strict';
import { signIn } from '@methods/local-stack/identity/testing/running-provider.fixture';

export interface AgentPerson {
  readonly email: string;
  readonly organization: string;
  readonly role: 'viewer' | 'member' | 'admin' | '';
}

const REDIRECT = 'http://127.0.0.1:9/callback';

export const CLIENT_METADATA = {
  client_name: 'an agent',
  redirect_uris: [REDIRECT],
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
};

/** Fits both client libraries: their provider interfaces differ in types, not in what is stored. */
export class AgentSignIn {
  tokens_: { access_token: string; refresh_token?: string } | undefined;
  authorizeUrl: URL | undefined;
  registered: { client_id: string } | undefined;
  private verifier = '';
  private discovery: unknown;
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = CLIENT_METADATA;

  /** `clientMetadataUrl`: the client is the document there, and does not register. */
  constructor(
    private readonly person: AgentPerson,
    readonly clientMetadataUrl?: string,
  ) {}

  clientInformation = () => this.registered;
  saveClientInformation = (information: { client_id: string }) => {
    this.registered = information;
  };
  tokens = () => this.tokens_;
  saveTokens = (tokens: { access_token: string; refresh_token?: string }) => {
    this.tokens_ = tokens;
  };
  redirectToAuthorization = (url: URL) => {
    this.authorizeUrl = url;
  };
  saveCodeVerifier = (verifier: string) => {
    this.verifier = verifier;
  };
  codeVerifier = () => this.verifier;
  saveDiscoveryState = (state: unknown) => {
    this.discovery = state;
  };
  discoveryState = () => this.discovery;

  /** The address that the browser comes back to. */
  async visit(): Promise<URL> {
    assert.ok(this.authorizeUrl, 'the library leads to the issuer');
    const { email, organization, role } = this.person;
    return signIn(this.authorizeUrl.href, { email, organization, role });
  }
}
