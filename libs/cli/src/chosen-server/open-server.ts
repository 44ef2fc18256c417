// Finds the server a command talks to and its credential.
import type { CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import type { Config } from '../config.ts';
import { type Credential, type Credentials, keyCredential, NO_CREDENTIAL } from '../server/credential.ts';
import { ServerApi } from '../server/server-api.ts';
import { readServerFacts, type ServerFacts } from '../server/server-facts.ts';
import { signInCredential } from '../sign-in/sign-in-credential.ts';
import { type ChosenServer, chooseServer } from './choose-server.ts';
import { developmentUser } from './development-user.ts';

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

/** A sign-in wins over a local stack's own key: it identifies a person. */
export async function credentialsFor(server: ChosenServer, facts: ServerFacts, config: Config): Promise<Credentials> {
  const { stack } = server;
  const signedIn = await signInCredential(server.baseUrl, facts.issuer, config);
  const person: Credential = signedIn ?? (stack === null ? null : await developmentUser(stack)) ?? NO_CREDENTIAL;
  if (config.serviceKey !== null) return { forRuns: keyCredential(config.serviceKey), forPeople: person };
  if (signedIn !== null || stack === null) return { forRuns: person, forPeople: person };
  return { forRuns: keyCredential(stack.apiKey, 'local-stack'), forPeople: person };
}
