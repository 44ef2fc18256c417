// Serves the dashboard: its page at every path that is not another surface's, and the page's parts below /assets.
import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type DashboardFile, ENCODINGS, type Encoding, readDashboard } from './dashboard-files.ts';

export interface DashboardParts {
  /** As `npm run dashboard:build` builds it. Null: this server has no dashboard. */
  readonly dashboardDir: string | null;
}

const YEAR_S = 31_536_000;
const NONCE = /__NONCE__/g;
const NONCE_BYTES = 16;
/** Paths whose unknown parts keep their own 404: a program must not get a page in place of a refusal. */
const OTHERS = [
  ...['api', 'v1', 'mcp', 'a', 'auth', 'packages', 'assets', 'schemas', 'reference', 'openapi.json', '.well-known'],
  ...['healthz', 'readyz'],
];
const OF_OTHERS = new RegExp(`^/(?:${OTHERS.map((name) => name.replace('.', '\\.')).join('|')})(?:[/?#]|$)`);

/** Added after all other routes: it answers what they do not. */
export function addDashboard(app: FastifyInstance, { dashboardDir }: DashboardParts): void {
  if (dashboardDir === null) return;
  const { page, release, assets } = readDashboard(dashboardDir);
  const hidden = { hide: true };

  app.get('/assets/:name', { schema: hidden }, async (request, reply) => {
    const { name } = request.params as { name: string };
    const file = assets.get(`/assets/${name}`);
    return file === undefined ? reply.callNotFound() : sendFile(request, reply, file);
  });

  app.route({
    method: ['GET', 'HEAD'],
    url: '/*',
    schema: hidden,
    handler: async (request, reply) => {
      if (OF_OTHERS.test(request.url) || !acceptsPage(request)) return reply.callNotFound();
      const nonce = randomBytes(NONCE_BYTES).toString('base64');
      return reply
        .headers({
          'content-type': 'text/html; charset=utf-8',
          // It names the present parts, and its nonce counts once.
          'cache-control': 'no-store',
          'content-security-policy': policy(nonce),
          'referrer-policy': 'same-origin',
          'cross-origin-opener-policy': 'same-origin',
          'permissions-policy': 'camera=(), geolocation=(), microphone=()',
          'methods-release': release,
        })
        .send(page.replaceAll(NONCE, nonce));
    },
  });
}

function acceptsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false;
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: DashboardFile): FastifyReply {
  const encoding = encodingOf(request, file);
  const bytes = encoding === null ? file.bytes : file.encoded[encoding];
  reply.headers({
    'content-type': file.type,
    'cache-control': `public, max-age=${YEAR_S}, immutable`,
    etag: file.etag,
    vary: 'accept-encoding',
  });
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  if (encoding !== null) reply.header('content-encoding', encoding);
  return reply.send(bytes);
}

function encodingOf({ headers }: FastifyRequest, { encoded }: DashboardFile): Encoding | null {
  const accepted = String(headers['accept-encoding'] ?? '')
    .split(',')
    .filter((each) => !/;\s*q=0(?:\.0*)?\s*$/.test(each))
    .map((each) => each.split(';')[0]?.trim().toLowerCase());
  return ENCODINGS.find((each) => encoded[each] !== undefined && accepted.includes(each)) ?? null;
}

/**
 * The page runs its own scripts and what they load, nothing inline, and no text as code. Styles with the nonce are those
 * that the libraries of the page write while it runs.
 */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
