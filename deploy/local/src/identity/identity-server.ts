// The provider's HTTP server on loopback: its own pages, tokens for scripts, and the protocol's routes.

import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Stoppable } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';
import { AccountFault, accountOf } from './account.ts';
import { RequestFault, readBody, sendJson } from './http.ts';
import type { IdentityProvider } from './identity-provider.ts';
import type { Interactions } from './interactions.ts';
import { CONTENT_POLICY } from './pages/page.ts';
import { ACCESS_TOKEN_S } from './resources.ts';
import { ISSUE_TOKEN_PATH, type TokenRequest } from './token-request.ts';

const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;

interface IdentityServerParts {
  readonly issuer: string;
  readonly port: number;
  readonly identity: IdentityProvider;
  readonly interactions: Interactions;
  readonly tokenSecret: string;
  readonly logger: Logger;
}

export class IdentityServer implements Stoppable {
  private readonly server: Server;
  private readonly protocol: (request: IncomingMessage, response: ServerResponse) => void;

  constructor(private readonly parts: IdentityServerParts) {
    const { provider } = parts.identity;
    // Its own listener: the framework's would print errors that may quote a request.
    provider.on('error', (error) => this.failed(error));
    provider.on('server_error', (_context, error) => this.failed(error));
    this.protocol = provider.callback();
    const limits = { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS };
    this.server = createServer(limits, (request, response) => void this.answer(request, response));
  }

  get port(): number {
    return this.parts.port;
  }

  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(this.parts.port, '127.0.0.1', resolve);
    });
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeIdleConnections();
    });
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('content-security-policy', CONTENT_POLICY);
    response.setHeader('x-content-type-options', 'nosniff');
    // Not `no-referrer`, since browsers would then send `Origin: null` with our own forms.
    response.setHeader('referrer-policy', 'same-origin');
    try {
      this.refuseForeign(request);
      const [path = '/'] = (request.url ?? '/').split('?');
      if (path === ISSUE_TOKEN_PATH)
        return await issueToken(this.parts.identity, this.parts.tokenSecret, request, response);
      if (path.startsWith('/interaction/')) {
        refuseForeignOrigin(request, this.parts.issuer);
        if (await this.parts.interactions.handle(path, request, response)) return;
      }
      this.protocol(request, response);
    } catch (error) {
      if (response.headersSent) return void response.destroy();
      if (error instanceof RequestFault)
        return sendJson(response, error.status, { error: 'invalid_request', error_description: error.message });
      this.failed(error);
      sendJson(response, 500, { error: 'server_error', error_description: 'A fault of the identity provider.' });
    }
  }

  /**
   * A page elsewhere could point another name to our address (DNS rebinding), and links are built from the requested
   * name.
   */
  private refuseForeign(request: IncomingMessage): void {
    if (`http://${request.headers.host}` !== this.parts.issuer)
      throw new RequestFault(421, `This provider answers only at ${this.parts.issuer}.`);
  }

  private failed(error: unknown): void {
    this.parts.logger.error({ err: error }, 'a request failed');
  }
}

function refuseForeignOrigin({ method, headers }: IncomingMessage, issuer: string): void {
  if (method === 'GET' || headers.origin === undefined || headers.origin === issuer) return;
  throw new RequestFault(403, 'The form came from another site.');
}

// Issues tokens for scripts and tests: anyone who can read the secret in the stack's data folder owns the stack, and
// may act as any person in it. The provider signs them like every other token.

/** Answers `{access_token, expires_in}` to a TokenRequest in JSON with the secret as its bearer. */
async function issueToken(
  identity: IdentityProvider,
  secret: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const given = /^Bearer (\S{1,256})$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  if (!timingSafeEqual(digest(given), digest(secret))) throw new RequestFault(401, 'The secret is not this stack’s.');
  if (request.method !== 'POST') throw new RequestFault(405, 'Use POST.');
  const { audience, ...person } = asked(await readBody(request));
  try {
    const token = await identity.issueToken(accountOf(person), audience);
    sendJson(response, 200, { access_token: token, expires_in: ACCESS_TOKEN_S });
  } catch (error) {
    if (error instanceof AccountFault) throw new RequestFault(400, error.message);
    throw error;
  }
}

function asked(body: string): TokenRequest {
  let value: Record<string, unknown>;
  try {
    value = Object(JSON.parse(body));
  } catch {
    throw new RequestFault(400, 'The body is not JSON.');
  }
  const { email, organization, role, audience } = value;
  if (typeof email !== 'string' || typeof organization !== 'string' || typeof role !== 'string')
    throw new RequestFault(400, 'email, organization and role are texts.');
  if (audience !== 'machine' && audience !== 'mcp') throw new RequestFault(400, 'audience is machine or mcp.');
  return { email, organization, role, audience };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
