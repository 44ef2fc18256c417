// The page that shows the API's description. Its code is loaded at the first request for the page, since it takes a third
// as long as the rest of the gateway, and in a thread, so that no other request waits.
import { Worker } from 'node:worker_threads';
import { importOf } from '@methods/built-code/node-arguments';
import type { FastifyInstance } from 'fastify';
import { REFERENCE_PATHS, type ReferencePage } from './reference-paths.ts';

const THREAD = new URL('./reference-thread.ts', import.meta.url);

export function addReferencePage(app: FastifyInstance, publicUrl: string | null): void {
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
