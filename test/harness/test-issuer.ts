// An identity provider for tests, written independently of the code it tests: rotating keys of several kinds, arbitrary
// tokens, a code flow that signs in at once, and for command lines a device flow, single-use refresh tokens and
// revocation. It can go down and come back at the same address.
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

export type TestAlgorithm = 'RS256' | 'ES256' | 'EdDSA';

interface SigningKey {
  readonly kid: string;
  readonly alg: TestAlgorithm;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

export interface TokenOptions {
  readonly alg?: TestAlgorithm;
  /** Merged over the usual header; undefined removes a field. */
  readonly header?: Record<string, unknown>;
  readonly key?: CryptoKey | Uint8Array;
}

type Claims = Record<string, unknown>;

const HOUR_S = 3_600;
const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';

/** One sign-in of a command line; only its newest refresh token is valid. */
interface Grant {
  readonly clientId: string;
  readonly resource: string;
  refreshToken: string;
  over: boolean;
}

interface Code {
  readonly challenge: string;
  readonly nonce: string;
  readonly redirectUri: string;
  readonly clientId: string;
  /** The audience of the access token. Empty: it opens only userinfo. */
  readonly resource: string;
}

export class TestIssuer implements AsyncDisposable {
  /** Requests by path. */
  readonly asked: string[] = [];
  /** Connections break. */
  away = false;
  /** The next user to sign in, over `sub`, `org_id`, `org_name`, `email` and `name`. */
  person: Claims = {};
  /** Changes the ID token of the code flow. */
  forge: (claims: Claims) => Claims = (claims) => claims;
  readonly clientId = 'dashboard';
  /** Signs the tokens of the flows. */
  alg: TestAlgorithm = 'ES256';
  /** The lifetime of command lines' access tokens. */
  expiresS = HOUR_S;
  /** The audience of their access tokens, instead of the requested one. Null: the requested one. */
  givenAudience: string | null = null;
  /** Removed from the metadata. */
  readonly withheld = new Set<string>();
  keys: SigningKey[] = [];
  readonly grants: Grant[] = [];
  /** A refresh token was used twice, by a thief or a second process, which ended the grant. */
  refreshTokensUsedAgain = 0;
  private readonly used = new Map<string, Grant>();
  private readonly devices = new Map<string, { userCode: string; allowed: boolean | null; code: Code }>();
  private readonly codes = new Map<string, Code>();
  private server: Server | null = null;
  private port = 0;

  static async started(): Promise<TestIssuer> {
    const issuer = new TestIssuer();
    await issuer.rotate();
    await issuer.listen();
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Replaces the keys of all kinds; tokens signed with the old ones become invalid. */
  async rotate(): Promise<void> {
    this.keys = await Promise.all((['RS256', 'ES256', 'EdDSA'] as const).map((alg) => newSigningKey(alg)));
  }

  /** An access token with the usual claims, overridden by the given ones; undefined removes a claim. */
  token(claims: Claims, { alg = 'ES256', header = {}, key }: TokenOptions = {}): Promise<string> {
    const signing = this.keys.find((each) => each.alg === alg);
    if (!signing) throw new Error(`no key for ${alg}`);
    const now = Math.floor(Date.now() / 1_000);
    const usual = { iss: this.url, sub: 'ada', iat: now, exp: now + HOUR_S, org_id: 'acme', jti: randomUUID() };
    const protectedHeader = { alg, kid: signing.kid, typ: 'at+jwt', ...header };
    return new SignJWT(defined({ ...usual, ...claims }))
      .setProtectedHeader(defined(protectedHeader) as { alg: string })
      .sign(key ?? signing.privateKey);
  }

  count(path: string): number {
    return this.asked.filter((asked) => asked === path).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }

  private async listen(): Promise<void> {
    this.server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', this.url);
      this.asked.push(pathname);
      if (this.away) return request.socket.destroy();
      this.answer(pathname, request, response).catch((error) => response.writeHead(500).end(String(error)));
    });
    await new Promise<void>((resolve) => this.server?.listen(0, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  private async answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    switch (path) {
      case '/.well-known/openid-configuration':
        return json(response, 200, this.metadata());
      case '/jwks':
        return json(response, 200, { keys: this.keys.map(({ publicJwk }) => publicJwk) });
      case '/authorize':
        return this.authorize(new URL(request.url ?? '', this.url).searchParams, response);
      case '/token':
        return this.redeem(new URLSearchParams(await bodyOf(request)), response);
      case '/device':
        return this.startDevice(new URLSearchParams(await bodyOf(request)), response);
      case '/revoke':
        return this.revoke(new URLSearchParams(await bodyOf(request)), response);
      case '/userinfo':
        return json(response, 200, this.profile());
      default:
        return json(response, 404, {});
    }
  }

  /** Enters, as a person would, the code that a device shows. */
  answerDevice(userCode: string, allowed: boolean): void {
    const device = [...this.devices.values()].find((each) => each.userCode === userCode);
    if (device === undefined) throw new Error(`no device shows ${userCode}`);
    device.allowed = allowed;
  }

  private metadata(): Claims {
    const all: Claims = {
      issuer: this.url,
      jwks_uri: `${this.url}/jwks`,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      userinfo_endpoint: `${this.url}/userinfo`,
      device_authorization_endpoint: `${this.url}/device`,
      revocation_endpoint: `${this.url}/revoke`,
      response_types_supported: ['code'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256', 'EdDSA'],
    };
    return Object.fromEntries(Object.entries(all).filter(([name]) => !this.withheld.has(name)));
  }

  private authorize(query: URLSearchParams, response: ServerResponse): void {
    const redirectUri = query.get('redirect_uri') ?? '';
    const code = randomUUID();
    if (query.get('code_challenge_method') !== 'S256') return json(response, 400, { error: 'invalid_request' });
    this.codes.set(code, {
      challenge: query.get('code_challenge') ?? '',
      nonce: query.get('nonce') ?? '',
      redirectUri,
      clientId: query.get('client_id') ?? this.clientId,
      resource: query.get('resource') ?? '',
    });
    const back = new URL(redirectUri);
    back.search = new URLSearchParams({ code, state: query.get('state') ?? '' }).toString();
    response.writeHead(302, { location: back.href }).end();
  }

  private async redeem(form: URLSearchParams, response: ServerResponse): Promise<void> {
    if (form.get('grant_type') === 'refresh_token') return this.refresh(form, response);
    if (form.get('grant_type') === DEVICE_CODE) return this.pollDevice(form, response);
    const code = this.codes.get(form.get('code') ?? '');
    this.codes.delete(form.get('code') ?? '');
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!code || code.challenge !== verifier || code.redirectUri !== form.get('redirect_uri')) {
      return json(response, 400, { error: 'invalid_grant' });
    }
    return this.signedIn(code, response);
  }

  private async signedIn({ clientId, resource, nonce }: Code, response: ServerResponse): Promise<void> {
    const claims = this.forge({ ...this.profile(), nonce: nonce || undefined, aud: clientId });
    const idToken = await this.token({ org_id: undefined, ...claims }, { header: { typ: 'JWT' }, alg: this.alg });
    if (resource === '') {
      return json(response, 200, { access_token: randomUUID(), token_type: 'Bearer', id_token: idToken });
    }
    const grant: Grant = { clientId, resource, refreshToken: randomUUID(), over: false };
    this.grants.push(grant);
    return json(response, 200, { ...(await this.tokensOf(grant)), id_token: idToken });
  }

  private async tokensOf({ resource, clientId, refreshToken }: Grant): Promise<Claims> {
    const exp = Math.floor(Date.now() / 1_000) + this.expiresS;
    const claims = {
      org_id: undefined,
      ...this.profile(),
      aud: this.givenAudience ?? resource,
      client_id: clientId,
      exp,
    };
    const accessToken = await this.token(claims, { alg: this.alg });
    return {
      access_token: accessToken,
      refresh_token: refreshToken,
      token_type: 'Bearer',
      expires_in: this.expiresS,
    };
  }

  private async refresh(form: URLSearchParams, response: ServerResponse): Promise<void> {
    const given = form.get('refresh_token') ?? '';
    const stolen = this.used.get(given);
    if (stolen !== undefined) {
      stolen.over = true;
      this.refreshTokensUsedAgain++;
    }
    const grant = this.grants.find((each) => each.refreshToken === given && !each.over);
    if (grant === undefined || form.get('client_id') !== grant.clientId || form.get('resource') !== grant.resource) {
      return json(response, 400, { error: 'invalid_grant' });
    }
    this.used.set(given, grant);
    grant.refreshToken = randomUUID();
    return json(response, 200, await this.tokensOf(grant));
  }

  private startDevice(form: URLSearchParams, response: ServerResponse): void {
    const deviceCode = randomUUID();
    const userCode = randomUUID().slice(0, 8).toUpperCase();
    const clientId = form.get('client_id') ?? '';
    const code = { challenge: '', nonce: '', redirectUri: '', clientId, resource: form.get('resource') ?? '' };
    this.devices.set(deviceCode, { userCode, allowed: null, code });
    json(response, 200, {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: `${this.url}/activate`,
      expires_in: 600,
      interval: 1,
    });
  }

  private async pollDevice(form: URLSearchParams, response: ServerResponse): Promise<void> {
    const device = this.devices.get(form.get('device_code') ?? '');
    if (device === undefined) return json(response, 400, { error: 'expired_token' });
    if (device.allowed === null) return json(response, 400, { error: 'authorization_pending' });
    this.devices.delete(form.get('device_code') ?? '');
    if (!device.allowed) return json(response, 400, { error: 'access_denied' });
    return this.signedIn(device.code, response);
  }

  private revoke(form: URLSearchParams, response: ServerResponse): void {
    const grant = this.grants.find(({ refreshToken }) => refreshToken === form.get('token'));
    if (grant !== undefined) grant.over = true;
    response.writeHead(200).end();
  }

  private profile(): Claims {
    const usual = { sub: 'ada', org_id: 'acme', org_name: 'Acme', email: 'ada@acme.example', name: 'Ada' };
    return defined({ ...usual, ...this.person });
  }
}

export async function newSigningKey(alg: TestAlgorithm): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const kid = randomUUID();
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += part;
  return text;
}

function defined(fields: Claims): Claims {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
