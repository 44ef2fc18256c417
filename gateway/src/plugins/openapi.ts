// The API's description, made of the routes themselves, and a page to read it. Both work without the internet.
import swagger from '@fastify/swagger';
import reference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';
import { JSON_TYPE } from './error-reply.ts';

/** Before any route that is to be described. */
export async function addOpenApi(app: FastifyInstance, publicUrl: string | null): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Methods',
        version: '1',
        description: 'Start runs of saved methods, read them, answer their questions and cancel them.',
      },
      ...(publicUrl === null ? {} : { servers: [{ url: publicUrl }] }),
      components: {
        securitySchemes: {
          serviceKey: { type: 'http', scheme: 'bearer', description: 'A service key, sk_…' },
        },
      },
      security: [{ serviceKey: [] }],
    },
  });
  let text: string | null = null;
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    text ??= JSON.stringify(app.swagger());
    reply.header('content-type', JSON_TYPE);
    return text;
  });
  await app.register(reference, {
    routePrefix: '/reference',
    configuration: { url: '/openapi.json', withDefaultFonts: false, telemetry: false, pageTitle: 'Methods API' },
  });
}
