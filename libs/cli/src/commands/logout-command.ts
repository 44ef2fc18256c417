// `methods logout`: revokes the sign-in at its issuer and forgets it here.
import { SERVER_OPTIONS } from '../chosen-server/open-server.ts';
import type { Command, CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import { CommandError } from '../errors/command-error.ts';
import { EXIT } from '../errors/exit-code.ts';
import { withFileLock } from '../files/file-lock.ts';
import { serverAddress } from '../server/server-facts.ts';
import { discoverIssuer, issuerFault } from '../sign-in/issuer-client.ts';
import { forgetSignIns, issuersOf, lastSignIn } from '../sign-in/last-sign-in.ts';
import { type SignIn, type SignInPurpose, SignInStore } from '../sign-in/sign-in-store.ts';

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
