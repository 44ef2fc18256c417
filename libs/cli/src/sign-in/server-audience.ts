// The audience of a token. Many servers can share an issuer, and anyone can run a server that names this issuer and the
// audience of another one: the token it was sent would open that other server (RFC 8707, 2; RFC 9728, 3.3).
import { CommandError } from '../errors/command-error.ts';
import { isLoopback } from '../server/server-address.ts';

/**
 * The audience to ask a token for: the one a server names, if it is an address of that server's own, or if the person
 * names it too. A server of this machine may name any address of this machine.
 * @throws CommandError `no_issuer`, `foreign_audience`
 */
export function serverAudience(server: string, told: string | null, named: string | undefined): string {
  if (told === null) throw new CommandError('no_issuer', `${server} has no sign-in: it names no audience`);
  if (named !== undefined) {
    if (named === told) return told;
    throw new CommandError('foreign_audience', `${server} asks for tokens for ${told}, and not for ${named}`);
  }
  if (URL.canParse(told)) {
    const sameServer = new URL(told).origin === new URL(server).origin;
    if (sameServer || (isLoopback(told) && isLoopback(server))) return told;
  }
  const message = `${server} asks for tokens for ${told}, which is no address of its own and may be another server`;
  // The audience stays out of the command to copy: it is the server's text, in a person's shell.
  const hint = 'if its operator says that you can trust it:  methods login --audience  followed by that audience';
  throw new CommandError('foreign_audience', message, { hint });
}

/**
 * An issuer may ignore the requested audience and give a token for a server of its own choice, which must not reach
 * this one. The servers of methods take only JWTs, so the token can be inspected. @throws CommandError
 * `foreign_audience`
 */
export function checkTokenAudience(accessToken: string, audience: string): void {
  const { aud } = claimsOf(accessToken);
  if (aud === audience || (Array.isArray(aud) && aud.includes(audience))) return;
  const hint = "the server's operator registers the audience there";
  throw new CommandError('foreign_audience', `the issuer gave a token that is not for ${audience}`, { hint });
}

function claimsOf(token: string): { readonly aud?: unknown } {
  try {
    return Object(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')));
  } catch {
    return {};
  }
}
