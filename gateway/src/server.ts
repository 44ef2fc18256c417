// The HTTP server: every route, and the hooks before and after it. It does not listen yet, so that tests can inject.
import { createServer, type ServerOptions } from 'node:http';
import type { Clock } from '@methods/base/clock';
import type { SharesOptions } from '@methods/base/shares';
import type { Secret } from '@methods/config/environment';
import Fastify, { type FastifyInstance } from 'fastify';
import { pathInOrganization } from './callers/addressed-organization.ts';
import { type CallerSources, callerFinder } from './callers/find-caller.ts';
import { stateKey } from './mcp/asked-user.ts';
import { addMcpRoutes } from './mcp/mcp-routes.ts';
import type { McpParts } from './mcp/tool.ts';
import { addCallerFields, RefusedCredentials } from './plugins/caller.ts';
import { addRouteTable } from './plugins/caller-access.ts';
import { addCallerScope } from './plugins/caller-scope.ts';
import { addConnectionLimits, addDrain, inLine, RequestInLine } from './plugins/connections.ts';
import { addErrorReply, replyToClientError, replyToFrameworkError } from './plugins/error-reply.ts';
import { addJsonBody, BODY_BYTES_MAX } from './plugins/json-body.ts';
import { LargeBodies } from './plugins/large-bodies.ts';
import { addOpenApi } from './plugins/openapi.ts';
import { OrganizationTurns } from './plugins/organization-turns.ts';
import { RateLimit } from './plugins/rate-limit.ts';
import { addLateReplies, addRequestGate } from './plugins/request-gate.ts';
import { addRequestLog, requestId } from './plugins/request-log.ts';
import { addCompiling, type RouteSchemas, routeSchemas } from './plugins/route-schemas.ts';
import { UnreadReplies } from './plugins/unread-replies.ts';
import { addAccountRoutes } from './routes/account/account-routes.ts';
import { addFirstSteps } from './routes/account/first-steps.ts';
import { addKeyWhoami } from './routes/account/whoami.ts';
import type { AnswerLinks } from './routes/answer-page/asked-question.ts';
import { addQuestionPages } from './routes/answer-page/question-pages.ts';
import { type AuthParts, addAuthRoutes } from './routes/auth/auth-routes.ts';
import { addBulkRoutes } from './routes/bulk/bulk-routes.ts';
import { addCliRoutes } from './routes/cli/cli-methods.ts';
import type { CliRunParts } from './routes/cli/cli-runs.ts';
import { addDashboard, type DashboardParts } from './routes/dashboard/dashboard-routes.ts';
import { addDeliveryRoutes, type DeliveryRouteParts } from './routes/deliveries/delivery-routes.ts';
import { addEndpointRoutes } from './routes/endpoints/endpoint-routes.ts';
import { addOrganizationEvents, PEOPLE_EVENTS, PROGRAM_EVENTS } from './routes/events/organization-events.ts';
import { addFileRoutes } from './routes/files/file-routes.ts';
import { addHealth } from './routes/health.ts';
import type { InboxRouteParts } from './routes/inbox/inbox-parts.ts';
import { addInboxRoutes } from './routes/inbox/list-inbox.ts';
import { addGetCallerMethod } from './routes/methods/get-caller-method.ts';
import type { MethodRouteParts } from './routes/methods/method-parts.ts';
import { addMethodRoutes } from './routes/methods/method-routes.ts';
import { addPackages, type PackageParts } from './routes/packages.ts';
import { addRunPartRoutes } from './routes/run-parts/run-part-routes.ts';
import { Downloads } from './routes/runs/downloads.ts';
import { type EventStreamLimits, EventStreams } from './routes/runs/event-streams.ts';
import { PEOPLE, PROGRAMS } from './routes/runs/run-acts.ts';
import type { RunRouteParts } from './routes/runs/run-reply.ts';
import { addRunRoutes } from './routes/runs/run-routes.ts';
import type { StatisticsRouteParts } from './routes/statistics/statistics-parts.ts';
import { addStatisticsRoutes } from './routes/statistics/statistics-routes.ts';
import { addUploadContent } from './routes/uploads/content.ts';
import { addUploadLinks } from './routes/uploads/links.ts';
import type { UsageRouteParts } from './routes/usage/usage-range.ts';
import { addUsageRoutes } from './routes/usage/usage-routes.ts';
import { addEditorSchema, addWellKnown, type WellKnownParts } from './routes/well-known.ts';
import { addWorkerRoutes, type WorkerRouteParts } from './routes/workers/worker-routes.ts';
import { LongWork, RecentOrganizations } from './turns/long-work.ts';

export interface ServerParts
  extends Omit<RunRouteParts, 'downloads' | 'eventStreams' | 'longWork' | 'rateLimit'>,
    MethodRouteParts,
    CliRunParts,
    CallerParts,
    AuthParts,
    DeliveryRouteParts,
    WorkerRouteParts,
    UsageRouteParts,
    StatisticsRouteParts,
    Pick<InboxRouteParts, 'questions' | 'members'>,
    Pick<McpParts, 'offeredMethods' | 'listChanges'>,
    WellKnownParts,
    PackageParts,
    DashboardParts {
  readonly clock: Clock;
  readonly publicUrl: string | null;
  /** Null: a key that only this process knows. */
  readonly mcpStateKey: Secret | null;
  /** Requests a second and key; 0: no limit, also none for bad credentials of an address. */
  readonly rateLimitPerKey: number;
  /** Requests a second of all of an organization's callers; 0: no limit. */
  readonly rateLimitPerOrganization: number;
  /** Comma-separated addresses whose X-Forwarded headers are trusted. */
  readonly trustProxy: string | null;
  /** Open connections in total, and of one address that is not a trusted proxy; 0: no limit for one address. */
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
  /** Null: there is no notifier, and so there are no links. */
  readonly answerLinks: AnswerLinks | null;
  /** Set if a test inspects all of them. */
  readonly schemas?: RouteSchemas;
  /** For the replies that report runs as they change. */
  readonly eventStreamLimits?: Partial<EventStreamLimits>;
  /** Bytes of replies that are not read. */
  readonly unreadReplyLimits?: Partial<SharesOptions>;
}

type CallerParts = Omit<CallerSources, 'registry' | 'accounts'>;

// How long a request may take to arrive; each route limits the time of its answer.
const HTTP: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
  /** Longer than load balancers keep a connection for its next request. */
  keepAliveTimeout: 72_000,
  // plugins/request-gate.ts refuses requests without one, in our format.
  requireHostHeader: false,
  IncomingMessage: RequestInLine,
};

/**
 * New connections that wait while this process is busy. When thousands of clients connect again at the same time, those
 * beyond Node's default of 511 would be reset or wait for seconds.
 */
const WAITING_CONNECTIONS_MAX = 4_096;

export async function listen(
  server: FastifyInstance,
  address: { readonly host: string; readonly port: number },
): Promise<void> {
  await server.listen({ ...address, backlog: WAITING_CONNECTIONS_MAX });
}

export async function buildServer(parts: ServerParts): Promise<FastifyInstance> {
  const schemas = parts.schemas ?? routeSchemas();
  const app: FastifyInstance = Fastify({
    // Records are written by plugins/request-log.ts.
    logger: false,
    genReqId: requestId,
    requestIdHeader: false,
    bodyLimit: BODY_BYTES_MAX,
    serverFactory: (handle) => createServer(HTTP, inLine(handle)),
    trustProxy: parts.trustProxy ?? false,
    exposeHeadRoutes: false,
    // While the server stops, requests on open connections still get a reply, and those connections then close.
    return503OnClosing: false,
    // By default Fastify turns "5" into 5 and drops unknown fields: a typing error would start a run silently.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, verbose: true } },
    schemaController: { compilersFactory: schemas.compilersFactory },
    rewriteUrl: pathInOrganization,
    clientErrorHandler: replyToClientError,
    frameworkErrors: replyToFrameworkError,
  });
  addCompiling(app, schemas, parts.clock);
  addCallerFields(app);
  addRouteTable(app);
  addConnectionLimits(app, parts);
  addDrain(app);
  addErrorReply(app, parts.logger);
  addRequestGate(app);
  addLateReplies(app, parts);
  addRequestLog(app, parts.logger);
  const recent = new RecentOrganizations(parts.clock);
  const longWork = new LongWork(parts.clock, recent);
  const largeBodies = new LargeBodies(longWork);
  addJsonBody(app, largeBodies);
  app.addHook('onRequest', (_request, reply, done) => {
    if (parts.stopping()) reply.header('connection', 'close');
    done();
  });
  await addOpenApi(app, parts.publicUrl);
  addHealth(app, parts);
  addEditorSchema(app);
  addWellKnown(app, parts);
  addPackages(app, parts);
  await addAuthRoutes(app, parts);

  const rateLimit = new RateLimit(parts);
  const turns = new OrganizationTurns(parts.clock, recent);
  await addQuestionPages(app, { ...parts, turns, limit: rateLimit, largeBodies });
  const callers = {
    findCaller: callerFinder(parts),
    turns,
    limit: rateLimit,
    largeBodies,
    unreadReplies: new UnreadReplies(parts.clock, parts.unreadReplyLimits),
    refusedCredentials: parts.rateLimitPerKey === 0 ? null : new RefusedCredentials(parts.clock),
    mcpUrl: parts.mcpUrl,
  };
  // Each route names the role it needs in its `config.access`. One line for each area.
  const eventStreams = new EventStreams(parts.clock, longWork, parts.eventStreamLimits);
  const runParts = { ...parts, longWork, rateLimit, eventStreams, downloads: new Downloads(parts.clock) };
  await addCallerScope(app, 'service', callers, (scope) => {
    addRunRoutes(scope, runParts, PROGRAMS);
    addOrganizationEvents(scope, runParts, PROGRAM_EVENTS);
    addGetCallerMethod(scope, parts);
    addKeyWhoami(scope, parts);
  });
  await addCallerScope(app, 'service', { ...callers, slowBodies: true }, (scope) => {
    addFileRoutes(scope, parts);
  });
  await addCallerScope(app, 'cli', callers, (scope) => {
    addCliRoutes(scope, parts);
  });
  await addCallerScope(app, 'api', callers, (scope) => {
    addMethodRoutes(scope, parts);
    addRunRoutes(scope, runParts, PEOPLE);
    addRunPartRoutes(scope, runParts);
    addBulkRoutes(scope, runParts);
    addInboxRoutes(scope, runParts);
    addOrganizationEvents(scope, runParts, PEOPLE_EVENTS);
    addAccountRoutes(scope, parts);
    addFirstSteps(scope, parts);
    addEndpointRoutes(scope, parts);
    addDeliveryRoutes(scope, parts);
    addWorkerRoutes(scope, parts);
    addUsageRoutes(scope, parts);
    addStatisticsRoutes(scope, parts);
    addUploadLinks(scope, parts);
  });
  await addCallerScope(app, 'mcp', callers, (scope) => {
    addMcpRoutes(scope, {
      ...runParts,
      largeBodies,
      unreadReplies: callers.unreadReplies,
      mcpStateKey: stateKey(parts, parts.logger),
    });
  });
  await addCallerScope(app, 'upload', callers, (scope) => {
    addUploadContent(scope, parts);
  });
  addDashboard(app, parts);
  return app;
}
