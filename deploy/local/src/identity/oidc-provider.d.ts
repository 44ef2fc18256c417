// The parts of oidc-provider that are used here: the package has no types.
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export interface Client {
    readonly clientId: string;
    readonly clientName?: string;
    readonly clientUri?: string;
    readonly applicationType: 'web' | 'native';
    readonly clientAuthMethod: string;
    readonly redirectUris: readonly string[];
    grantTypeAllowed(type: string): boolean;
  }

  export interface Grant {
    readonly accountId: string;
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }

  export interface ResourceServer {
    readonly audience: string;
  }

  export interface AccessToken {
    readonly accountId?: string;
    resourceServer: ResourceServer;
    save(): Promise<string>;
  }

  export interface Interaction {
    readonly uid: string;
    readonly prompt: {
      readonly name: string;
      readonly details: {
        readonly missingOIDCScope?: readonly string[];
        readonly missingResourceScopes?: Readonly<Record<string, readonly string[]>>;
      };
    };
    readonly params: Readonly<Record<string, unknown>>;
    readonly session?: { readonly accountId?: string };
    readonly grantId?: string;
    readonly deviceCode?: string;
  }

  /** A request inside the provider. */
  export interface Context {
    type: string;
    body: unknown;
    readonly oidc: {
      readonly provider: Provider;
      readonly client?: Client;
      readonly entities: { readonly Client?: Client };
      readonly result?: { readonly login?: object; readonly consent?: { readonly grantId?: string } };
      readonly route: string;
      readonly session: {
        readonly accountId?: string;
        readonly state?: { readonly secret?: string };
        grantIdFor(clientId: string): string | undefined;
      };
      urlFor(route: string): string;
    };
    set(header: string, value: string): void;
  }

  export interface Account {
    readonly accountId: string;
    claims(): Promise<Record<string, unknown>>;
  }

  /** The provider's storage of one kind of object. */
  export interface Adapter {
    upsert(id: string, payload: Record<string, unknown>, expiresInS?: number): Promise<void>;
    find(id: string): Promise<Record<string, unknown> | undefined>;
    findByUserCode(userCode: string): Promise<Record<string, unknown> | undefined>;
    findByUid(uid: string): Promise<Record<string, unknown> | undefined>;
    consume(id: string): Promise<void>;
    destroy(id: string): Promise<void>;
    revokeByGrantId(grantId: string): Promise<void>;
  }

  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>);
    readonly issuer: string;
    readonly Client: { find(id: string): Promise<Client | undefined> };
    readonly Grant: {
      new (parts: { accountId: string; clientId: string }): Grant;
      find(id: string): Promise<Grant | undefined>;
    };
    readonly AccessToken: new (parts: {
      accountId: string;
      client: Client;
      scope: string;
    }) => AccessToken;
    readonly ResourceServer: new (
      id: string,
      info: object,
    ) => ResourceServer;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: Record<string, unknown>,
      options?: { mergeWithLastSubmission?: boolean },
    ): Promise<void>;
    on(event: 'server_error', listener: (context: Context, error: unknown) => void): this;
    on(event: 'error', listener: (error: unknown) => void): this;
  }

  export namespace errors {
    class OIDCProviderError extends Error {
      readonly error: string;
    }
    class InvalidTarget extends OIDCProviderError {
      constructor(description?: string);
    }
    class InvalidGrant extends OIDCProviderError {
      constructor(description?: string);
    }
    class SessionNotFound extends OIDCProviderError {}
  }

  export namespace interactionPolicy {
    class Check {
      constructor(reason: string, description: string, check: (context: Context) => boolean);
      static readonly REQUEST_PROMPT: true;
      static readonly NO_NEED_TO_PROMPT: false;
    }
    function base(): { get(name: string): { checks: { add(check: Check): void } } };
  }
}
