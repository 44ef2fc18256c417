// A server's public metadata: the command line, the libraries and workers from /.well-known/methods, MCP clients from
// the metadata of a protected resource (RFC 9728). Public.

import { editorSchema } from '@methods/method/editor/editor-schema';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { CLIENT_SCOPES, resourceMetadataPath } from '../callers/caller-refused.ts';
import type { IssuerConfig } from '../config.ts';
import { JSON_TYPE } from '../plugins/error-reply.ts';

const NameOrNull = Type.Union([Type.String(), Type.Null()]);

const ServerFacts = Type.Object({
  base_url: NameOrNull,
  mcp_url: NameOrNull,
  grpc_url: NameOrNull,
  issuer: NameOrNull,
  cli_client_id: NameOrNull,
  machine_audience: NameOrNull,
  sends_mail: Type.Union([Type.Boolean(), Type.Null()], {
    description: 'Whether questions are mailed to the people who answer them; null: unknown right now.',
  }),
});

export interface WellKnownParts {
  readonly publicUrl: string | null;
  readonly grpcPublicUrl: string | null;
  readonly mcpUrl: string | null;
  readonly issuer: IssuerConfig | null;
  readonly sendsMail: () => Promise<boolean | null>;
}

export function addWellKnown(app: FastifyInstance, parts: WellKnownParts): void {
  addServerFacts(app, parts);
  const { mcpUrl, issuer } = parts;
  if (mcpUrl !== null && issuer !== null) addResourceMetadata(app, mcpUrl, issuer.url);
}

function addServerFacts(app: FastifyInstance, parts: WellKnownParts): void {
  const { publicUrl, grpcPublicUrl, mcpUrl, issuer, sendsMail } = parts;
  const facts = {
    base_url: publicUrl,
    mcp_url: mcpUrl,
    grpc_url: grpcPublicUrl,
    issuer: issuer?.url ?? null,
    cli_client_id: issuer?.cliClientId ?? null,
    machine_audience: issuer?.machineAudience ?? null,
  };
  const schema = {
    operationId: 'serverFacts',
    summary: 'Addresses and names of this server',
    tags: ['server'],
    response: { 200: ServerFacts },
  };
  app.get('/.well-known/methods', { schema }, async (_request, reply) => {
    reply.header('content-type', JSON_TYPE).header('cache-control', 'no-cache');
    return JSON.stringify({ ...facts, sends_mail: await sendsMail() });
  });
}

function addResourceMetadata(app: FastifyInstance, resource: string, issuerUrl: string): void {
  const text = JSON.stringify({
    resource,
    authorization_servers: [issuerUrl],
    scopes_supported: CLIENT_SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'Methods',
  });
  // Some clients use the root for any path of the resource.
  for (const path of new Set([resourceMetadataPath(resource), '/.well-known/oauth-protected-resource'])) {
    app.get(path, { schema: { hide: true } }, async (_request, reply) => {
      reply.header('content-type', JSON_TYPE).header('cache-control', 'no-cache');
      return text;
    });
  }
}

const HOUR_S = 3_600;

/** The JSON Schema of `.method` files, for editors. Public, and the same for everyone until the next release. */
export function addEditorSchema(app: FastifyInstance): void {
  const text = JSON.stringify(editorSchema());
  app.get('/schemas/method-2.json', { schema: { hide: true } }, async (_request, reply) => {
    reply
      .header('content-type', 'application/schema+json; charset=utf-8')
      .header('cache-control', `public, max-age=${HOUR_S}`)
      .header('access-control-allow-origin', '*');
    return text;
  });
}
