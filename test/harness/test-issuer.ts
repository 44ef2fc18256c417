// An identity provider for tests, written apart from everything it tests: keys of several kinds that rotate, tokens of
// any make, and a code flow that signs in at once. It can go away and come back at the same address.
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
  /** Merged over the usual header; undefined takes a field away. */
  readonly header?: Record<string, unknown>;
  readonly key?: CryptoKey | Uint8Array;
}

type Claims = Record<string, unknown>;

const HOUR_S = 3_600;

export class TestIssuer implements AsyncDisposable {
  /** Requests by path. */
  readonly asked: string[] = [];
  /** Connections break. */
  away = false;
  /** Who signs in next, over `sub`, `org_id`, `org_name`, `email` and `name`. */
  person: Claims = {};
  /** Changes the ID token of the code flow. */
  forge: (claims: Claims) => Claims = (claims) => claims;
  readonly clientId = 'dashboard';
  keys: SigningKey[] = [];
  private readonly codes = new Map<string, { challenge: string; nonce: string; redirectUri: string }>();
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

  /** New keys of all kinds; tokens of the old ones are no good any more. */
  async rotate(): Promise<void> {
    this.keys = await Promise.all((['RS256', 'ES256', 'EdDSA'] as const).map((alg) => newSigningKey(alg)));
  }

  /** An access token with the claims of a usual one under those given; undefined takes a claim away. */
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
      case '/userinfo':
        return json(response, 200, this.profile());
      default:
        return json(response, 404, {});
    }
  }

  private metadata(): Claims {
    return {
      issuer: this.url,
      jwks_uri: `${this.url}/jwks`,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      userinfo_endpoint: `${this.url}/userinfo`,
      response_types_supported: ['code'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256', 'EdDSA'],
    };
  }

  private authorize(query: URLSearchParams, response: ServerResponse): void {
    const redirectUri = query.get('redirect_uri') ?? '';
    const code = randomUUID();
    if (query.get('code_challenge_method') !== 'S256') return json(response, 400, { error: 'invalid_request' });
    this.codes.set(code, {
      challenge: query.get('code_challenge') ?? '',
      nonce: query.get('nonce') ?? '',
      redirectUri,
    });
    const back = new URL(redirectUri);
    back.search = new URLSearchParams({ code, state: query.get('state') ?? '' }).toString();
    response.writeHead(302, { location: back.href }).end();
  }

  private async redeem(form: URLSearchParams, response: ServerResponse): Promise<void> {
    const code = this.codes.get(form.get('code') ?? '');
    this.codes.delete(form.get('code') ?? '');
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!code || code.challenge !== verifier || code.redirectUri !== form.get('redirect_uri')) {
      return json(response, 400, { error: 'invalid_grant' });
    }
    const claims = this.forge({ ...this.profile(), nonce: code.nonce, aud: this.clientId });
    const idToken = await this.token({ org_id: undefined, ...claims }, { header: { typ: 'JWT' } });
    return json(response, 200, { access_token: randomUUID(), token_type: 'Bearer', id_token: idToken });
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
