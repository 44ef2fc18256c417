// The provider in this process, on a database of its own, with the settings that a client needs.
import { createHash, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { Secret } from '@methods/config/environment';
import { createLogger } from '@methods/logging/logger';
import { testPostgres } from '@methods/test/harness/postgres';
import { tempFolder } from '@methods/test/harness/temp-folder';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { freePort } from '../../ports.ts';
import { composeIdentity } from '../composition.ts';
import type { IdentityConfig } from '../config.ts';
import { Browser, type Page } from './browser.fixture.ts';

export const BASE = 'http://127.0.0.1:4600';
export const MACHINE = `${BASE}/api`;
export const MCP = `${BASE}/mcp`;
const CLI_CALLBACK = 'http://127.0.0.1:53682/callback';
export const ADA = { email: 'ada.lovelace@example.com', organization: 'Local', role: 'admin' };

export interface RunningProvider {
  readonly config: IdentityConfig;
  readonly issuer: string;
  /** Stops it and starts it again on the same folder and database. */
  again(): Promise<void>;
  stop(): Promise<void>;
}

export async function runningProvider(): Promise<RunningProvider> {
  const database = await (await testPostgres()).freshDatabase();
  const port = await freePort();
  const config: IdentityConfig = {
    issuer: `http://127.0.0.1:${port}`,
    port,
    postgresUrl: new Secret(database.url),
    folder: tempFolder('identity'),
    publicUrl: BASE,
    machineAudience: MACHINE,
    mcpUrl: MCP,
    logLevel: 'silent',
  };
  const logger = createLogger({ name: 'identity-provider', level: 'silent' });
  let service = composeIdentity(config, logger);
  await service.start();
  return {
    config,
    issuer: config.issuer,
    async again() {
      await service.stop();
      service = composeIdentity(config, logger);
      await service.start();
    },
    async stop() {
      await service.stop();
      await database.drop();
      rmSync(config.folder, { recursive: true });
    },
  };
}

export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

export function pkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** The address a client sends its person to; a parameter of `over` that is null is left out. */
export function authorizeUrl(issuer: string, challenge: string, over: Record<string, string | null> = {}): string {
  const parameters: Record<string, string | null> = {
    client_id: 'methods-cli',
    response_type: 'code',
    redirect_uri: CLI_CALLBACK,
    scope: 'openid profile email offline_access',
    prompt: 'consent',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    resource: MACHINE,
    state: 'state-1',
    nonce: 'nonce-1',
    ...over,
  };
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  return `${issuer}/auth?${new URLSearchParams(given)}`;
}

/** Types who signs in, allows the client, and returns where the browser is sent with the code. */
export async function signIn(url: string, person: Record<string, string> = ADA, browser = new Browser()): Promise<URL> {
  let page: Page = await browser.open(url);
  if (page.status !== 0) page = await browser.submit(page, person);
  if (page.status !== 0) page = await browser.submit(page);
  return new URL(page.url);
}

export interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown> & {
    readonly access_token?: string;
    readonly refresh_token?: string;
    readonly id_token?: string;
    readonly error?: string;
  };
}

export async function post(url: string, fields: Record<string, string>): Promise<Reply> {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(fields) });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

export function exchange(
  issuer: string,
  code: string,
  verifier: string,
  over: Record<string, string> = {},
): Promise<Reply> {
  return post(`${issuer}/token`, {
    grant_type: 'authorization_code',
    client_id: 'methods-cli',
    redirect_uri: CLI_CALLBACK,
    code,
    code_verifier: verifier,
    ...over,
  });
}

/** As a resource server does it. An id_token has no `typ`. */
export async function verified(issuer: string, token: string, audience: string, kind: 'access' | 'id' = 'access') {
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
  const typ = kind === 'access' ? { typ: 'at+jwt' } : {};
  return (await jwtVerify(token, keys, { issuer, audience, algorithms: ['RS256', 'ES256'], ...typ })).payload;
}
