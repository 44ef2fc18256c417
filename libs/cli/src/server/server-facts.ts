// A server's address as a person gives it, its public description, and the caller's identity by it.
import { CommandError, UsageError } from '../errors/command-error.ts';
import type { Output } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';
import { readJson, requestServer, whileBusy } from './server-request.ts';

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
  const response = await whileBusy(() => requestServer(baseUrl, '/.well-known/methods', { signal }), signal);
  const body = response.status === 200 ? await readJson(response).catch(unlessJson) : null;
  if (response.status >= 500 || response.status === 429) {
    const hint = 'try again in a moment';
    const code = response.status === 429 ? 'rate_limited' : 'unavailable';
    throw new CommandError(code, `the server at ${baseUrl} answers ${response.status}`, { hint });
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

/** @throws what broke the reply */
function unlessJson(error: unknown): null {
  if (error instanceof CommandError && error.code === 'bad_reply') return null;
  throw error;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// A server's address in the form that a person gives.

/** Without a slash at the end. `source` names its origin, such as `--server`. @throws UsageError */
export function serverAddress(text: string, source: string): string {
  const wrong = (why: string) => new UsageError(`${source} ${why}`, 'such as https://methods.example.com');
  if (!URL.canParse(text)) throw wrong('is no address');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw wrong('is not an address of http or https');
  if (url.username !== '' || url.password !== '') throw wrong('names a user: sign in with  methods login  instead');
  if (url.search !== '' || url.hash !== '') throw wrong('has more than an address');
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** Addresses of this machine only, where no one can eavesdrop. */
export function isLoopback(address: string): boolean {
  const { hostname } = new URL(address);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

// The caller's identity by the server.

/** GET /api/whoami. */
export interface CallerFacts {
  readonly user: { readonly id: string; readonly email: string | null; readonly name: string | null };
  readonly role: 'viewer' | 'member' | 'admin';
  readonly organization: { readonly id: string; readonly name: string };
  readonly credential: string;
}

/** `ada@example.com (Ada), admin of Acme`. */
export function callerWords({ user, role, organization }: CallerFacts): string {
  const name = user.email ?? user.name ?? user.id;
  const whole = user.email !== null && user.name ? `${name} (${user.name})` : name;
  return plainText(`${whole}, ${role} of ${organization.name}`);
}

export function showField(output: Output, name: string, value: string): void {
  output.line(`${output.paint('dim', name.padEnd(10))}${plainText(value)}`);
}
