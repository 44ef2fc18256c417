// The API's description, generated from the routes, and a page to read it. Both work without the internet.

import { Worker } from 'node:worker_threads';
import swagger from '@fastify/swagger';
import { importOf } from '@methods/built-code/node-arguments';
import type { FastifyInstance, FastifySchema } from 'fastify';
import type { TSchema } from 'typebox';
import { JSON_TYPE } from './error-reply.ts';
import { REFERENCE_PATHS, type ReferencePage } from './reference-paths.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Described in place of the schema that checks the body. */
    describedBody?: TSchema;
  }
}

/** Registered before any route that it describes. */
export async function addOpenApi(app: FastifyInstance, publicUrl: string | null): Promise<void> {
  await app.register(swagger, {
    exposeHeadRoutes: true,
    transform: ({ schema, url, route }) => ({
      url: url.replace('/*', '/:path'),
      schema: named(described(schema, route.config?.describedBody)),
    }),
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Methods',
        version: '1',
        license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
        description: 'Save and publish methods; start their runs, read them, answer their questions and cancel them.',
      },
      servers: [{ url: publicUrl ?? '/' }],
      components: {
        securitySchemes: {
          serviceKey: { type: 'http', scheme: 'bearer', description: 'A service key, sk_…' },
          accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A person’s access token' },
          session: { type: 'apiKey', in: 'cookie', name: 'workflow_session', description: 'Signed in with a browser' },
          uploadToken: {
            type: 'apiKey',
            in: 'header',
            name: 'Authorization',
            description: 'WorkflowUpload and the token of the upload’s link',
          },
        },
      },
    },
  });
  // A route outside of all scopes with callers takes no credential, and its description says so.
  app.addHook('onRoute', (route) => {
    route.schema = { security: [], ...route.schema };
  });
  let text: string | null = null;
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    text ??= JSON.stringify(app.swagger());
    reply.header('content-type', JSON_TYPE);
    return text;
  });
  addReferencePage(app, publicUrl);
}

/** Describes a body that is checked in parts as a whole. */
function described(schema: FastifySchema, body: TSchema | undefined): FastifySchema {
  return body === undefined ? schema : { ...schema, body };
}

/** Names a wildcard's value, since every parameter of a description has a name. */
function named(schema: FastifySchema): FastifySchema {
  const params = schema?.params as { properties?: Record<string, unknown>; required?: string[] } | undefined;
  if (params?.properties?.['*'] === undefined) return schema;
  const { '*': path, ...properties } = params.properties;
  const required = params.required?.map((name) => (name === '*' ? 'path' : name));
  return { ...schema, params: { ...params, properties: { ...properties, path }, required } };
}

const THREAD = new URL('./reference-thread.ts', import.meta.url);

/**
 * Adds the page that shows the API's description. Its code is loaded at the first request, since that takes a third as
 * long as loading the rest of the gateway, and in a thread, so that no other request waits.
 */
function addReferencePage(app: FastifyInstance, publicUrl: string | null): void {
  let page: Promise<ReferencePage> | null = null;
  for (const path of REFERENCE_PATHS) {
    app.get(path, { schema: { hide: true } }, async (_request, reply) => {
      page ??= rendered().catch((error: unknown) => {
        page = null;
        throw error;
      });
      const { status, type, location, body } = (await page)[path];
      reply.code(status).type(type).header('content-security-policy', pagePolicy(publicUrl));
      if (location !== null) reply.header('location', location);
      return reply.send(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
    });
  }
}

function rendered(): Promise<ReferencePage> {
  const thread = new Worker(importOf(THREAD), { eval: true, env: {} });
  return new Promise((resolve, reject) => {
    thread.once('message', resolve).once('error', reject);
    thread.once('exit', (code) => reject(new Error(`the thread of the reference page ended with ${code}`)));
  });
}

// The page runs scripts and sends keys: both stay with this server, even if a later version of the page would not.
function pagePolicy(publicUrl: string | null): string {
  const origin = publicUrl === null ? '' : ` ${new URL(publicUrl).origin}`;
  return [
    "default-src 'self'",
    "script-src 'self' 'unsafe-inline'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    `connect-src 'self'${origin}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
