// The body of the thread that renders the page of the API's description, which is the same for every caller.
import { parentPort } from 'node:worker_threads';
import reference from '@scalar/fastify-api-reference';
import { fastify } from 'fastify';
import { REFERENCE_PATHS, type ReferencePage } from './reference-paths.ts';

const app = fastify();
await app.register(reference, {
  routePrefix: '/reference',
  configuration: {
    url: '/openapi.json',
    withDefaultFonts: false,
    telemetry: false,
    pageTitle: 'Methods API',
    // Calls go directly from the page to this server. By default some would pass through a proxy of the page's vendor,
    // with their keys.
    proxyUrl: '',
    hideClientButton: true,
    // These would send the description to the vendor's service.
    showDeveloperTools: 'never',
    // The browser would request a missing one.
    favicon: 'data:,',
    agent: { disabled: true },
    mcp: { disabled: true },
  },
});
const parts = REFERENCE_PATHS.map(async (path) => {
  const { statusCode: status, headers, rawPayload } = await app.inject({ method: 'GET', url: path });
  const type = String(headers['content-type'] ?? 'text/plain; charset=utf-8');
  const location = typeof headers.location === 'string' ? headers.location : null;
  // Copies the bytes: a pooled buffer would keep its other content in memory.
  return [path, { status, type, location, body: new Uint8Array(rawPayload) }];
});
parentPort?.postMessage(Object.fromEntries(await Promise.all(parts)) as ReferencePage);
await app.close();
