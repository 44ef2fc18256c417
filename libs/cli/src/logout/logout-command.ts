// `methods logout`: revokes the sign-in at its issuer and forgets it here.
import type { Command, CommandContext } from '../command/command.ts';
import { CommandError } from '../command/command-error.ts';
import type { CommandLine } from '../command/command-line.ts';
import { EXIT } from '../command/exit-code.ts';
import { serverAddress } from '../server/server-address.ts';
import { SERVER_OPTIONS } from '../server/server-options.ts';
import { withFileLock } from '../sign-in/file-lock.ts';
import { forgetSignIns, issuersOf, lastSignIn } from '../sign-in/last-sign-in.ts';
import { revokeSignIn } from '../sign-in/revoke-sign-in.ts';
import { SignInStore } from '../sign-in/sign-in-store.ts';

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
    for (const issuer of issuers) faults.push(...(await forget(issuer, server, context)));
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

/** Under the lock, so that a process that renews meanwhile does not bring the sign-in back. Forgotten in any case. */
async function forget(
  issuer: string,
  server: string,
  { config, interrupted }: CommandContext,
): Promise<CommandError[]> {
  const store = new SignInStore(config);
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
