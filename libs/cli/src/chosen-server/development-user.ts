// A developer of a local stack acts in it without a sign-in: anyone who can read its data folder owns the stack.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../errors/command-error.ts';
import type { Credential } from '../server/credential.ts';
import { isLoopback } from '../server/server-address.ts';
import { readJson, requestServer } from '../server/server-request.ts';
import type { LocalStack } from './local-stacks.ts';

const WHO = { email: 'developer@example.com', organization: 'Local', role: 'admin' };
/** Tokens are renewed this long before they expire. */
const EARLY_MS = 60_000;

/** null where people sign in at an issuer that is not the stack's own: its secret is of no use there. */
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
