// /api/cli/methods: the command line saves methods and versions, and reads them with their exact source.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { MethodId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance } from 'fastify';
import type { TObject } from 'typebox';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { doerOf } from '../../plugins/request-actor.ts';
import { sourceText, versionJson, versionView } from '../../views/method-view.ts';
import { savedVersion, savedView } from '../methods/create-method.ts';
import { keyHash, type MethodRouteParts, methodIdOf, noteSourceShown, utf8 } from '../methods/method-parts.ts';
import { MethodParams, SavedVersion, SourceVersion } from '../methods/method-schemas.ts';
import { readVersion } from '../methods/read-methods.ts';
import { SPELLINGS, type Spelling, withFields } from '../methods/spelling.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { addCliRuns, type CliRunParts } from './cli-runs.ts';
import { CliCreateBody, CliSaveBody, CliVersionQuery, Unchanged } from './cli-schemas.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function addCliMethods(scope: FastifyInstance, parts: MethodRouteParts, spelling: Spelling): void {
  const typed = scope.withTypeProvider<TypeBoxTypeProvider>();
  const { methods } = parts.registryCalls;
  const url = `/api/cli/${spelling.noun}`;
  const saved = spelledCliShape(SavedVersion);

  const create = {
    ...describedCli(spelling, 'cliCreateMethod', 'Save a new method'),
    body: CliCreateBody,
    querystring: NoQuery,
    response: replies({ 201: saved, 200: { ...saved, description: 'The request id is known: the method it made.' } }),
  };
  typed.post(url, { schema: create, config: { access: 'member', source: true } }, async (request, reply) => {
    const { workflow, request_id: requestId, display_name: displayName = '' } = request.body;
    if (!UUID.test(requestId)) {
      const message = '"request_id" has to be a UUID.';
      throw new ServiceError('invalid_request', message, {
        findings: [{ path: '/request_id', code: 'request_id', message }],
      });
    }
    const { version, created, warnings } = await methods
      .createMethod({
        orgId: callerOf(request).orgId,
        // The text of the UUID is an ordinary key, so the method it created can be found by it.
        idempotencyHash: keyHash(requestId),
        displayName,
        source: utf8(workflow),
        doer: doerOf(request),
      })
      .catch(refuseAsWorkflow);
    if (version === undefined)
      throw new ServiceError('idempotency_conflict', 'This key made a method without a source.');
    reply.code(created ? 201 : 200).header('content-type', JSON_TYPE);
    return JSON.stringify(spelledCli(savedView({ version, created, warnings })));
  });

  const read = {
    ...describedCli(spelling, 'cliGetVersion', 'Read a version with its exact source'),
    params: MethodParams,
    querystring: CliVersionQuery,
    response: replies({ 200: spelledCliShape(SourceVersion), 304: Unchanged }),
  };
  typed.get(`${url}/:id`, { schema: read, config: { access: 'viewer' } }, async (request, reply) => {
    const version = await readVersion(request, parts, methodIdOf(request.params), request.query.version);
    const tag = sourceTag(version.sha256);
    reply.header('etag', tag).header('cache-control', 'private, no-cache');
    if (namesTag(request.headers['if-none-match'], tag)) return reply.code(304).send();
    noteSourceShown(request, parts, version.versionId);
    reply.header('content-type', JSON_TYPE);
    const told = await parts.sourceInterfaces.fieldsJson({ orgId: callerOf(request).orgId, ...version });
    return versionJson(spelledCli({ ...versionView(version), source: sourceText(version) }), told);
  });

  const save = {
    ...describedCli(spelling, 'cliSaveVersion', 'Save a new version upon the current one'),
    params: MethodParams,
    body: CliSaveBody,
    querystring: NoQuery,
    response: replies({
      201: saved,
      200: { ...saved, description: 'The current version already holds this text.' },
    }),
  };
  typed.post(`${url}/:id`, { schema: save, config: { access: 'member', source: true } }, async (request, reply) => {
    const { workflow, base_version: baseVersion, reason } = request.body;
    const version = { methodId: methodIdOf(request.params), baseVersion, source: workflow, reason };
    const saved = await savedVersion(request, parts, version).catch(refuseAsWorkflow);
    reply.code(saved.created ? 201 : 200).header('content-type', JSON_TYPE);
    return JSON.stringify(spelledCli(saved));
  });
}

/** A fault of the whole source is reported for the field that held it. */
function refuseAsWorkflow(error: unknown): never {
  if (!(error instanceof ServiceError) || error.findings.every(({ path }) => path !== '/source')) throw error;
  const findings = error.findings.map((each) => (each.path === '/source' ? { ...each, path: '/workflow' } : each));
  throw new ServiceError(error.code, error.message, { findings, facts: error.facts, cause: error });
}

// Replies of the command line's routes, under both names: programs also look for a method's id in `workflow_id`, and
// for its source in `workflow`, as they send them.

/** As in routes/methods/spelling.ts, with the tag of the command line. */
function describedCli({ legacy }: Spelling, operationId: string, summary: string) {
  if (!legacy) return { operationId, summary, tags: ['cli'] };
  const id = `legacy${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}`;
  return { operationId: id, summary: `${summary} (earlier name)`, tags: ['cli'], deprecated: true };
}

/** The shape of a reply as `spelledCli` makes it. */
function spelledCliShape(shape: TObject): TObject {
  const { method_id: methodId, source } = shape.properties;
  return withFields(shape, { ...(methodId && { workflow_id: methodId }), ...(source && { workflow: source }) });
}

function spelledCli<Reply extends { readonly method_id: MethodId; readonly source?: string }>(reply: Reply): Reply {
  const source = reply.source === undefined ? {} : { workflow: reply.source };
  return { ...reply, workflow_id: reply.method_id, ...source };
}

// The ETag of a version's source, and whether a caller already has it (RFC 9110, sections 8.8.3 and 13.1.2).

/** `sha256`: hex of the source's bytes. */
function sourceTag(sha256: string): string {
  return `"${sha256}"`;
}

/** Reports whether an If-None-Match header names the tag. Weak and strong tags are the same here. */
function namesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((named) => named.trim().replace(/^W\//, '') === tag);
}

// The routes of the command line; those of methods under both their names.

/** For the scope `cli`. */
export function addCliRoutes(scope: FastifyInstance, parts: MethodRouteParts & CliRunParts): void {
  for (const spelling of SPELLINGS) addCliMethods(scope, parts, spelling);
  addCliRuns(scope, parts);
}
