// Finds the server of a command and its credential. In a local stack a developer acts without a sign-in.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import type { OptionWords } from '../command/command-words.ts';
import type { Config } from '../config.ts';
import { CommandError } from '../errors/command-error.ts';
import { type Credential, type Credentials, keyCredential, NO_CREDENTIAL } from '../server/credential.ts';
import { ServerApi } from '../server/server-api.ts';
import { isLoopback, readServerFacts, type ServerFacts } from '../server/server-facts.ts';
import { readJson, requestServer } from '../server/server-request.ts';
import { signInCredential } from '../sign-in/sign-in-credential.ts';
import { type ChosenServer, chooseServer } from './choose-server.ts';
import type { LocalStack } from './local-stacks.ts';

// The option of every command that talks to a server.

/** Spread into a command's options; read by `openServer`. */
export const SERVER_OPTIONS = {
  server: { value: 'URL', help: 'the server; default METHODS_SERVER, the last sign-in, or the local stack' },
} as const satisfies Readonly<Record<string, OptionWords>>;

/**
 * The server of `--server` (the command has SERVER_OPTIONS), METHODS_SERVER, the last sign-in, or the only local stack.
 * Without a sign-in, the requests fail with that reason.
 * @throws CommandError `no_server`, `usage` (several stacks), `unreachable`, `bad_certificate`, `not_a_server`
 */
export async function openServer(line: CommandLine, context: CommandContext): Promise<ServerApi> {
  const { config, interrupted } = context;
  const server = await chooseServer(line, config);
  const facts = await readServerFacts(server.baseUrl, interrupted);
  const credentials = await credentialsFor(server, facts, config);
  const methodNames = server.stack?.methods ?? new Map();
  return new ServerApi({ baseUrl: server.baseUrl, facts, credentials, methodNames, interrupted });
}

/** A sign-in takes precedence over a local stack's own key, since it identifies a person. */
export async function credentialsFor(server: ChosenServer, facts: ServerFacts, config: Config): Promise<Credentials> {
  const { stack } = server;
  const signedIn = await signInCredential(server.baseUrl, facts.issuer, config);
  const person: Credential = signedIn ?? (stack === null ? null : await developmentUser(stack)) ?? NO_CREDENTIAL;
  if (config.serviceKey !== null) return { forRuns: keyCredential(config.serviceKey), forPeople: person };
  if (signedIn !== null || stack === null) return { forRuns: person, forPeople: person };
  return { forRuns: keyCredential(stack.apiKey, 'local-stack'), forPeople: person };
}

// A developer of a local stack acts in it without a sign-in: anyone who can read its data folder owns the stack.

const WHO = { email: 'developer@example.com', organization: 'Local', role: 'admin' };
/** Tokens are renewed this long before they expire. */
const EARLY_MS = 60_000;

/** null if people sign in at an issuer other than the stack's own, for which its secret is useless. */
export async function developmentUser(
  stack: LocalStack,
  audience: 'machine' | 'mcp' = 'machine',
): Promise<Credential | null> {
  const folder = join(stack.dataDir, 'identity-provider');
  const memory = await readFile(join(folder, 'issuer.json'), 'utf8').then(JSON.parse, () => null);
  if (!isLoopback(stack.issuer) || stack.issuer !== `http://127.0.0.1:${memory?.port}`) return null;
  const secret = await readFile(join(folder, 'token-secret'), 'utf8').catch(() => null);
  if (secret === null) return null;
  let token: { readonly text: string; readonly untilMs: number } | null = null;
  return {
    kind: 'local-stack',
    async bearer(signal) {
      if (token === null || performance.now() > token.untilMs)
        token = await askToken(stack.issuer, secret, audience, signal);
      return token.text;
    },
    renew: async () => false,
  };
}

async function askToken(
  issuer: string,
  secret: string,
  audience: 'machine' | 'mcp',
  signal: AbortSignal,
): Promise<{ text: string; untilMs: number }> {
  const response = await requestServer(issuer, '/development/token', {
    verb: 'POST',
    headers: { authorization: `Bearer ${secret}` },
    body: { ...WHO, audience },
    signal,
  });
  const reply = (await readJson(response)) as { access_token?: unknown; expires_in?: unknown };
  if (typeof reply.access_token !== 'string' || typeof reply.expires_in !== 'number') {
    throw new CommandError('sign_in_refused', "the local stack's identity provider gives no token", {
      hint: 'start the stack again',
    });
  }
  return { text: reply.access_token, untilMs: performance.now() + reply.expires_in * 1_000 - EARLY_MS };
}
