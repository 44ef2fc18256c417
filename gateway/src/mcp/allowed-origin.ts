// Refuses requests to /mcp that a page of another site could have caused: by their Origin, and by a Host that is not
// this server's, as a foreign name pointed to this server would send (DNS rebinding).
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance } from 'fastify';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Guards the routes of `scope`. `addresses`: where clients and people reach this server. */
export function addAllowedOrigin(scope: FastifyInstance, addresses: readonly string[]): void {
  const urls = addresses.map((address) => new URL(address));
  const hosts = new Set(urls.flatMap(namesOf));
  const origins = new Set(
    urls.flatMap((url) => namesOf(url).map((name) => new URL(`${url.protocol}//${name}:${url.port}`).origin)),
  );
  scope.addHook('onRequest', (request, _reply, done) => {
    const { origin } = request.headers;
    const isOurs = hosts.has(hostnameOf(request.host));
    if (isOurs && (origin === undefined || origins.has(origin))) return done();
    request.refusal = 'foreign_origin';
    const message = isOurs
      ? 'Pages of other sites may not use this MCP server.'
      : 'The Host header does not name this MCP server.';
    done(new ServiceError('forbidden', message));
  });
}

/** On the local machine these names are equivalent. */
function namesOf({ hostname }: URL): readonly string[] {
  return LOOPBACK.includes(hostname) ? LOOPBACK : [hostname];
}

/** Returns the name without the port; empty for a text that is no host. */
function hostnameOf(host: string): string {
  return /^(\[[0-9a-f:.]+\]|[^:@/\s]+)(:\d*)?$/i.exec(host)?.[1]?.toLowerCase() ?? '';
}
