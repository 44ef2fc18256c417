// A server's public description: its addresses, and its identity provider.
import { CommandError } from '../errors/command-error.ts';
import { readJson, requestServer } from './server-request.ts';

export interface ServerFacts {
  readonly mcpUrl: string | null;
  readonly grpcUrl: string | null;
  /** null: sign-in is not available there. */
  readonly issuer: string | null;
  readonly cliClientId: string | null;
  readonly machineAudience: string | null;
  /** Whether questions are mailed to people; null: unknown. */
  readonly sendsMail: boolean | null;
}

/** GET /.well-known/methods. @throws CommandError `unreachable`, `not_a_server` and the like. */
export async function readServerFacts(baseUrl: string, signal: AbortSignal): Promise<ServerFacts> {
  const response = await requestServer(baseUrl, '/.well-known/methods', { signal });
  const body = response.status === 200 ? await readJson(response).catch(() => null) : null;
  if (response.status >= 500) {
    const hint = 'try again in a moment';
    throw new CommandError('unavailable', `the server at ${baseUrl} answers ${response.status}`, { hint });
  }
  if (!isRecord(body) || !('machine_audience' in body)) {
    const hint = 'give only the address, such as https://methods.example.com';
    throw new CommandError('not_a_server', `${baseUrl} is not a server of methods`, { hint });
  }
  const text = (name: string) => (typeof body[name] === 'string' && body[name] !== '' ? body[name] : null);
  return {
    mcpUrl: text('mcp_url'),
    grpcUrl: text('grpc_url'),
    issuer: text('issuer'),
    cliClientId: text('cli_client_id'),
    machineAudience: text('machine_audience'),
    sendsMail: typeof body.sends_mail === 'boolean' ? body.sends_mail : null,
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
