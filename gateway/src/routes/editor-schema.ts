// The JSON Schema of `.method` files, for editors. Public, and the same for everyone until the next release.
import { editorSchema } from '@methods/method/editor/editor-schema';
import type { FastifyInstance } from 'fastify';

const HOUR_S = 3_600;

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
