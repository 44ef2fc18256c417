// The API's description, made of the routes themselves, and a page to read it. Both work without the internet.
import swagger from '@fastify/swagger';
import reference from '@scalar/fastify-api-reference';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { JSON_TYPE } from './error-reply.ts';

/** Before any route that is to be described. */
export async function addOpenApi(app: FastifyInstance, publicUrl: string | null): Promise<void> {
  await app.register(swagger, {
    exposeHeadRoutes: true,
    transform: ({ schema, url }) => ({ url: url.replace('/*', '/:path'), schema: named(schema) }),
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
  // A route outside of all scopes with callers takes no credential, and says so.
  app.addHook('onRoute', (route) => {
    route.schema = { security: [], ...route.schema };
  });
  let text: string | null = null;
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    text ??= JSON.stringify(app.swagger());
    reply.header('content-type', JSON_TYPE);
    return text;
  });
  await app.register(reference, {
    routePrefix: '/reference',
    configuration: {
      url: '/openapi.json',
      withDefaultFonts: false,
      telemetry: false,
      pageTitle: 'Methods API',
      // Calls go from the page to this server. Left out, some of them would pass through the maker's proxy, keys and all.
      proxyUrl: '',
      hideClientButton: true,
      // They would hand the description to the maker's own service.
      showDeveloperTools: 'never',
      // The browser would ask for one that is not there.
      favicon: 'data:,',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
    hooks: {
      onRequest: (_request, reply, done) => {
        reply.header('content-security-policy', pagePolicy(publicUrl));
        done();
      },
    },
  });
}

/** What a wildcard takes has a name, as every parameter of a description has. */
function named(schema: FastifySchema): FastifySchema {
  const params = schema?.params as { properties?: Record<string, unknown>; required?: string[] } | undefined;
  if (params?.properties?.['*'] === undefined) return schema;
  const { '*': path, ...properties } = params.properties;
  const required = params.required?.map((name) => (name === '*' ? 'path' : name));
  return { ...schema, params: { ...params, properties: { ...properties, path }, required } };
}

// The page runs scripts and sends keys: both stay with this server, whatever a later version of the page would like.
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
