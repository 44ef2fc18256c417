// Finds the identity provider of the intended running stack, and requests an access token from it.
import { join } from 'node:path';
import { isStackRunning } from '../data-folder.ts';
import { StackError } from '../embedded/stack-error.ts';
import { keptTokenSecret } from '../identity/key-files.ts';
import { ISSUE_TOKEN_PATH, type TokenRequest } from '../identity/token-request.ts';
import { dataFoldersOfStacks } from '../ready-file.ts';
import { issuerOf } from '../sign-in.ts';

interface ProviderOfStack {
  readonly dataDir: string;
  readonly issuer: string;
  readonly secret: string;
}

/** `dataDir` null: the only one that runs. @throws StackError `no_stack` or `several_stacks`. */
export function chooseStack(dataDir: string | null): ProviderOfStack {
  return providerOf(dataDir ?? onlyStack());
}

function onlyStack(): string {
  const running = dataFoldersOfStacks().filter(isStackRunning);
  const [first] = running;
  if (first === undefined) throw new StackError('no_stack', 'No local stack is running: start one with npm start.');
  if (running.length > 1)
    throw new StackError('several_stacks', `Several stacks are running; choose by --data-dir: ${running.join(', ')}.`);
  return first;
}

function providerOf(dataDir: string): ProviderOfStack {
  if (!isStackRunning(dataDir))
    throw new StackError('no_stack', `No stack is running with the data folder ${dataDir}.`);
  const folder = join(dataDir, 'identity-provider');
  const found = issuerOf(folder);
  if (found !== null && !found.embedded)
    throw new StackError('no_stack', `This stack's people sign in at ${found.issuer}: take a token from there.`);
  const secret = keptTokenSecret(folder);
  if (found === null || secret === null)
    throw new StackError('no_stack', `The stack with the data folder ${dataDir} is still starting.`);
  return { dataDir, issuer: found.issuer, secret };
}

// Requests an access token from a stack's identity provider, with the secret of its data folder.

const TIMEOUT_MS = 10_000;

/** @throws StackError `token_refused`, or `no_stack` when the provider does not answer. */
export async function fetchToken({ issuer, secret }: ProviderOfStack, request: TokenRequest): Promise<string> {
  const { email, organization, role, audience } = request;
  let response: Response;
  try {
    response = await fetch(issuer + ISSUE_TOKEN_PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email, organization, role, audience }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    throw new StackError('no_stack', `The identity provider at ${issuer} does not answer.`, { cause: error });
  }
  const reply = (await response.json()) as { access_token?: string; error_description?: string };
  if (reply.access_token === undefined)
    throw new StackError(
      'token_refused',
      reply.error_description ?? `The identity provider answered ${response.status}.`,
    );
  return reply.access_token;
}
