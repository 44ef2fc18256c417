// `methods login`, `logout` and `whoami`: sign a person in to a server and keep the sign-in, revoke and forget it, and
// show whose it is.
import { join } from 'node:path';
import { chooseServer } from '../chosen-server/choose-server.ts';
import { openServer, SERVER_OPTIONS } from '../chosen-server/open-server.ts';
import type { Command, CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import { CommandError, EXIT } from '../errors/command-error.ts';
import { withFileLock } from '../files/file-lock.ts';
import { ServerApi } from '../server/server-api.ts';
import {
  type CallerFacts,
  callerWords,
  readServerFacts,
  type ServerFacts,
  serverAddress,
  showField,
} from '../server/server-facts.ts';
import { deviceSignIn, hasDeviceFlow } from '../sign-in/device-sign-in.ts';
import { discoverIssuer, issuerFault, issuerNames } from '../sign-in/issuer-client.ts';
import { forgetSignIns, issuersOf, lastSignIn, rememberSignIn } from '../sign-in/last-sign-in.ts';
import { loopbackSignIn } from '../sign-in/loopback-sign-in.ts';
import { type SignIn, type SignInPurpose, SignInStore } from '../sign-in/sign-in-store.ts';

export const loginCommand: Command = {
  name: 'login',
  usage: '[--device] [--server URL] [--audience AUDIENCE]',
  summary: 'Sign in to a server with a browser',
  details: [
    'The browser of this machine is opened; with --device, or without a display, a code is shown that is entered in any',
    "browser. The sign-in is kept in the system's keyring, or without one in a file that only you can read,",
    'as with METHODS_TOKEN_STORE=file.',
    '',
    'A server that asks for tokens for an address other than its own is refused: with such a token it could act as you',
    'elsewhere. Where its operator chose such an audience, name it with --audience.',
  ],
  options: {
    ...SERVER_OPTIONS,
    device: { help: 'show a code to enter in the browser of another machine' },
    audience: { value: 'AUDIENCE', help: 'the audience of tokens, if it is not an address of the server itself' },
  },
  operands: { min: 0, max: 0, word: 'argument' },
  examples: ['methods login --server https://methods.example.com', 'methods login --device'],

  async run(line, context) {
    const { config, output } = context;
    const { baseUrl } = await chooseServer(line, config);
    const facts = await readServerFacts(baseUrl, context.interrupted);
    const names = issuerNames(baseUrl, facts, line.text('audience'));
    const issuer = await discoverIssuer(names);
    const byDevice = line.flag('device') || (!config.display && hasDeviceFlow(issuer));
    const signIn = await (byDevice ? deviceSignIn : loopbackSignIn)(baseUrl, names, issuer, context);
    // A token that the server does not accept is not stored: the fault is reported here, and not by every later
    // command.
    const caller = await callerOf(signIn, facts, context);
    const store = new SignInStore(config);
    const lockFile = store.lockFile(signIn.issuer, baseUrl);
    const place = await withFileLock(lockFile, context.interrupted, () => store.write(signIn));
    await rememberSignIn(config.stateDir, signIn);
    output.document({ server: baseUrl, issuer: signIn.issuer, kept_in: place, ...caller });
    output.result(`Signed in to ${baseUrl}: ${callerWords(caller)}`);
    const file = `a file under ${join(config.stateDir, 'methods')} that only you can read`;
    output.line(`Kept in ${place === 'keyring' ? "the system's keyring" : file}.`);
    return EXIT.done;
  },
};

function callerOf(signIn: SignIn, facts: ServerFacts, { interrupted }: CommandContext): Promise<CallerFacts> {
  const fresh = { kind: 'sign-in', bearer: async () => signIn.accessToken, renew: async () => false } as const;
  const credentials = { forRuns: fresh, forPeople: fresh };
  return new ServerApi({ baseUrl: signIn.server, facts, credentials, interrupted }).get<CallerFacts>('/api/whoami');
}

/** A person signs in for each separately, and out of all at once. */
const PURPOSES: readonly SignInPurpose[] = ['commands', 'agents'];

export const logoutCommand: Command = {
  name: 'logout',
  usage: '[--server URL]',
  summary: 'Sign out: revoke and delete the sign-in',
  options: SERVER_OPTIONS,
  operands: { min: 0, max: 0, word: 'argument' },
  examples: ['methods logout', 'methods logout --server https://methods.example.com'],

  async run(line, context) {
    const { config, output } = context;
    const server = await signedInServer(line, context);
    const issuers = server === null ? [] : await issuersOf(config.stateDir, server);
    if (server === null || issuers.length === 0) {
      output.document({ server, signed_out: false, revoked: false });
      output.result(server === null ? 'Not signed in' : `Not signed in to ${server}`);
      return EXIT.done;
    }
    const faults: CommandError[] = [];
    for (const issuer of issuers) {
      for (const purpose of PURPOSES) faults.push(...(await forget(issuer, server, purpose, context)));
    }
    await forgetSignIns(config.stateDir, server);
    output.document({ server, signed_out: true, revoked: faults.length === 0 });
    output.result(`Signed out of ${server}`);
    for (const { message, hint } of faults) {
      output.note(`warning: forgotten here, but not revoked at the issuer: ${message}${hint ? ` (${hint})` : ''}`);
    }
    return faults.length === 0 ? EXIT.done : EXIT.warnings;
  },
};

/** The sign-in is forgotten even if the server does not answer. */
async function signedInServer(line: CommandLine, { config }: CommandContext): Promise<string | null> {
  const option = line.text('server');
  if (option !== undefined) return serverAddress(option, '--server');
  if (config.server !== null) return serverAddress(config.server, 'METHODS_SERVER');
  return (await lastSignIn(config.stateDir))?.server ?? null;
}

/** Runs under the lock, so that a process that renews meanwhile does not restore the sign-in. Removed in any case. */
async function forget(
  issuer: string,
  server: string,
  purpose: SignInPurpose,
  { config, interrupted }: CommandContext,
): Promise<CommandError[]> {
  const store = new SignInStore(config, purpose);
  return withFileLock(store.lockFile(issuer, server), interrupted, async () => {
    const kept = await store.read(issuer, server);
    await store.remove(issuer, server);
    if (kept === null) return [];
    try {
      if (await revokeSignIn(kept)) return [];
    } catch (error) {
      return [asCommandError(error)];
    }
    const hint = 'its tokens expire by themselves';
    return [new CommandError('not_revoked', `the issuer ${issuer} revokes nothing`, { hint })];
  });
}

function asCommandError(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  return new CommandError('not_revoked', 'the issuer could not be asked', { cause: error });
}

/**
 * Returns false if the issuer has no such endpoint. Revoking the refresh token also ends the access tokens of the same
 * grant. @throws CommandError
 */
async function revokeSignIn(signIn: SignIn): Promise<boolean> {
  const configuration = await discoverIssuer(signIn);
  if (configuration.serverMetadata().revocation_endpoint === undefined) return false;
  const { tokenRevocation } = await import('openid-client');
  const { refreshToken, accessToken } = signIn;
  try {
    if (refreshToken === null) await tokenRevocation(configuration, accessToken, { token_type_hint: 'access_token' });
    else await tokenRevocation(configuration, refreshToken, { token_type_hint: 'refresh_token' });
  } catch (error) {
    throw issuerFault(signIn.issuer, error);
  }
  return true;
}

export const whoamiCommand: Command = {
  name: 'whoami',
  usage: '[--server URL]',
  summary: 'Show who is signed in, in which organization and role',
  options: SERVER_OPTIONS,
  operands: { min: 0, max: 0, word: 'argument' },
  examples: ['methods whoami', 'methods whoami --json'],

  async run(line, context) {
    const { output } = context;
    const server = await openServer(line, context);
    const caller = await server.get<CallerFacts>('/api/whoami');
    output.document(caller);
    output.result(callerWords(caller));
    showField(output, 'server', server.baseUrl);
    if (server.facts.issuer !== null) showField(output, 'issuer', server.facts.issuer);
    showField(output, 'by', BY[server.credentialKind('/api/')]);
    return EXIT.done;
  },
};

const BY = {
  'sign-in': 'your sign-in',
  'local-stack': 'the local stack on this machine, without a sign-in',
  'service-key': 'SERVICE_API_KEY',
  none: 'nothing',
} as const;
