// The HTTP server: every route and what stands before and after it. Listens nowhere yet, so that tests can inject.
import type { Clock } from '@methods/base/clock';
import type { Logger } from '@methods/logging/logger';
import Fastify, { type FastifyInstance } from 'fastify';
import { addCaller } from './plugins/caller.ts';
import { addDrain } from './plugins/drain.ts';
import { addErrorReply, replyToClientError, replyToFrameworkError } from './plugins/error-reply.ts';
import { addJsonBody, BODY_BYTES_MAX } from './plugins/json-body.ts';
import { addOpenApi } from './plugins/openapi.ts';
import { addRateLimit } from './plugins/rate-limit.ts';
import { addRequestGate } from './plugins/request-gate.ts';
import { requestId } from './plugins/request-id.ts';
import { addRequestLog } from './plugins/request-log.ts';
import { addEditorSchema } from './routes/editor-schema.ts';
import { addHealth } from './routes/health.ts';
import type { RunRouteParts } from './routes/runs/run-reply.ts';
import { addRunRoutes } from './routes/runs/run-routes.ts';

export interface ServerParts extends RunRouteParts {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly publicUrl: string | null;
  /** Requests a second and key; 0 is no limit. */
  readonly rateLimitPerKey: number;
  /** Addresses whose X-Forwarded headers are believed, separated by commas. */
  readonly trustProxy: string | null;
  /** True once the process is stopping. */
  readonly stopping: () => boolean;
}

// How long a request may take to arrive; how long its answer takes is the routes' business.
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
const CHECK_MS = 1_000;

export async function buildServer(parts: ServerParts): Promise<FastifyInstance> {
  const app: FastifyInstance = Fastify({
    // Records are written by plugins/request-log.ts.
    logger: false,
    genReqId: requestId,
    requestIdHeader: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_MS,
    http: { headersTimeout: HEADERS_MS, connectionsCheckingInterval: CHECK_MS, requireHostHeader: false },
    trustProxy: parts.trustProxy ?? false,
    exposeHeadRoutes: false,
    // While stopping, what comes in on open connections is still answered, and those connections then close.
    return503OnClosing: false,
    // By default Fastify turns "5" into 5 and drops unknown fields: a typing error would start a run without a word.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, verbose: true } },
    clientErrorHandler: replyToClientError,
    frameworkErrors: replyToFrameworkError,
  });
  app.decorateRequest('caller', null);
  addDrain(app);
  addErrorReply(app, parts.logger);
  addRequestGate(app);
  addRequestLog(app, parts.logger);
  addJsonBody(app);
  app.addHook('onRequest', (_request, reply, done) => {
    if (parts.stopping()) reply.header('connection', 'close');
    done();
  });
  await addOpenApi(app, parts.publicUrl);
  addHealth(app, parts);
  addEditorSchema(app);
  await app.register(async (scope) => {
    addCaller(scope, (authPart) => parts.registry.callerOf(authPart));
    addRateLimit(scope, parts.rateLimitPerKey, parts.clock);
    addRunRoutes(scope, parts);
  });
  return app;
}
