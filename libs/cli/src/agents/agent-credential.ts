// The credential with which the bridge calls the MCP server: a separate sign-in, or a local stack's developer.
import type { ChosenServer } from '../chosen-server/choose-server.ts';
import { developmentUser } from '../chosen-server/open-server.ts';
import type { Config } from '../config.ts';
import { CommandError } from '../errors/command-error.ts';
import type { Credential } from '../server/credential.ts';
import type { ServerFacts } from '../server/server-facts.ts';
import { serverAudience } from '../sign-in/issuer-client.ts';
import { signInCredential } from '../sign-in/sign-in-credential.ts';

/** The address of the MCP server, which is also its tokens' audience. @throws CommandError `no_mcp`, `foreign_audience`. */
export function mcpAddress(server: string, { mcpUrl }: ServerFacts, named: string | undefined): string {
  if (mcpUrl === null) throw new CommandError('no_mcp', `${server} has no MCP server`);
  return serverAudience(server, mcpUrl, named);
}

/** A person may sign in while the bridge runs: without a sign-in, each request looks for one. */
export function agentCredential({ baseUrl, stack }: ChosenServer, { issuer }: ServerFacts, config: Config): Credential {
  let found: Credential | null = null;
  const credential = async () => {
    found ??=
      (await signInCredential(baseUrl, issuer, config, 'agents')) ??
      (stack === null ? null : await developmentUser(stack, 'mcp'));
    if (found !== null) return found;
    throw new CommandError('not_signed_in', 'not signed in for agents', {
      hint: `methods mcp login --server ${baseUrl}`,
    });
  };
  return {
    kind: 'sign-in',
    async bearer(signal) {
      try {
        return await (await credential()).bearer(signal);
      } catch (error) {
        if (error instanceof CommandError && error.code === 'sign_in_over') found = null;
        throw error;
      }
    },
    renew: async (signal) => (await credential()).renew(signal),
  };
}
