// GET of methods and versions: the lists, a single one, its agent prompt or exact source, and what a creation key
// created.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { isId, type MethodId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Version } from '@methods/proto/registry/v1/method_pb';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { methodView, sourceText, versionJson, versionView } from '../../views/method-view.ts';
import { pageRequest, readLimit } from '../page-query.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { type MethodRouteParts, methodIdOf, noteSourceShown, sentMethod } from './method-parts.ts';
import {
  AgentPrompt,
  CreationParams,
  FoundCreation,
  ListQuery,
  Method,
  MethodParams,
  pageOf,
  SourceVersion,
  VersionInList,
  VersionParams,
  VersionsQuery,
} from './method-schemas.ts';
import { described, type Spelling, spelled, spelledShape } from './spelling.ts';

export function addReadMethods(scope: FastifyInstance, parts: MethodRouteParts, spelling: Spelling): void {
  const typed = scope.withTypeProvider<TypeBoxTypeProvider>();
  const url = `/api/${spelling.noun}`;
  const config = { access: 'viewer' } as const;

  const list = {
    ...described(spelling, 'listMethods', 'List methods, newest first'),
    querystring: ListQuery,
    response: replies({ 200: pageOf(Method) }),
  };
  typed.get(url, { schema: list, config, preValidation: readLimit }, async (request, reply) => {
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify(await methodPage(request, parts, request.query));
  });

  const one = {
    ...described(spelling, 'getMethod', 'Read a method'),
    params: MethodParams,
    querystring: NoQuery,
    response: replies({ 200: Method }),
  };
  typed.get(`${url}/:id`, { schema: one, config }, async (request, reply) => {
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify((await readMethod(request, parts, methodIdOf(request.params))).method);
  });

  const prompt = {
    ...described(spelling, 'getAgentPrompt', "Read a method's instructions for agents"),
    params: MethodParams,
    querystring: NoQuery,
    response: replies({ 200: AgentPrompt }),
  };
  typed.get(`${url}/:id/agent-prompt`, { schema: prompt, config }, async (request, reply) => {
    reply.header('content-type', JSON_TYPE);
    const { agentPrompt } = await readMethod(request, parts, methodIdOf(request.params));
    return JSON.stringify({ agent_prompt: agentPrompt });
  });
}

/** A page of methods, the newest first. */
export async function methodPage(
  request: FastifyRequest,
  { registryCalls: { methods } }: MethodRouteParts,
  query: Static<typeof ListQuery>,
) {
  const { orgId } = callerOf(request);
  const page = await methods.listMethods({ orgId, search: query.q ?? '', ...pageRequest(query) });
  return { items: page.methods.map(methodView), next_cursor: page.nextCursor || null };
}

/** A method and its instructions for agents, null where it has none. @throws not_found */
export async function readMethod(
  request: FastifyRequest,
  { registryCalls: { methods } }: MethodRouteParts,
  methodId: MethodId,
) {
  const { method, agentPrompt } = await methods.getMethod({ orgId: callerOf(request).orgId, methodId });
  return { method: sentMethod(method), agentPrompt: agentPrompt || null };
}

/** GET /api/workflow-creation-requests/:sha256, which has only one name. */
export function addFindCreation(scope: FastifyInstance, { registryCalls }: MethodRouteParts): void {
  const schema = {
    operationId: 'findCreation',
    summary: 'Find what a creation key made, after a lost reply',
    tags: ['methods'],
    params: CreationParams,
    querystring: NoQuery,
    response: replies({ 200: FoundCreation }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .get(
      '/api/workflow-creation-requests/:sha256',
      { schema, config: { access: 'viewer' } },
      async (request, reply) => {
        const { orgId } = callerOf(request);
        const idempotencyHash = digestOf(request.params.sha256);
        const { found, method } = await registryCalls.methods.findCreation({ orgId, idempotencyHash });
        reply.header('content-type', JSON_TYPE);
        return JSON.stringify({ found, method: method ? methodView(method) : null });
      },
    );
}

// To a key that was not hashed, a client would take a 404 or `found: false` as permission to create again.
function digestOf(hex: string): Buffer {
  if (/^[0-9a-f]{64}$/.test(hex)) return Buffer.from(hex, 'hex');
  const message = 'The path ends in the SHA-256 of the key, 64 lower-case hex digits.';
  throw new ServiceError('invalid_request', message, { findings: [{ path: '/sha256', code: 'sha256', message }] });
}

/** GET of a method's versions: the list, and one with its exact source. */
export function addReadVersions(scope: FastifyInstance, parts: MethodRouteParts, spelling: Spelling): void {
  const typed = scope.withTypeProvider<TypeBoxTypeProvider>();
  const { methods } = parts.registryCalls;
  const url = `/api/${spelling.noun}/:id/versions`;
  const config = { access: 'viewer' } as const;

  const list = {
    ...described(spelling, 'listVersions', "List a method's versions, newest first"),
    params: MethodParams,
    querystring: VersionsQuery,
    response: replies({ 200: pageOf(spelledShape(VersionInList, spelling)) }),
  };
  typed.get(url, { schema: list, config, preValidation: readLimit }, async (request, reply) => {
    const { orgId } = callerOf(request);
    const page = await methods.listVersions({
      orgId,
      methodId: methodIdOf(request.params),
      ...pageRequest(request.query),
    });
    const items = page.versions.map((version) => spelled(versionView(version), spelling));
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify({ items, next_cursor: page.nextCursor || null });
  });

  const one = {
    ...described(spelling, 'getVersion', 'Read a version with its exact source'),
    params: VersionParams,
    querystring: NoQuery,
    response: replies({ 200: spelledShape(SourceVersion, spelling) }),
  };
  typed.get(`${url}/:version_id`, { schema: one, config }, async (request, reply) => {
    const version = await readVersion(request, parts, methodIdOf(request.params), request.params.version_id);
    noteSourceShown(request, parts, version.versionId);
    reply.header('content-type', JSON_TYPE);
    const told = await parts.sourceInterfaces.fieldsJson({ orgId: callerOf(request).orgId, ...version });
    return versionJson(spelled({ ...versionView(version), source: sourceText(version) }, spelling), told);
  });
}

/** A saved version; by default the current one. @throws not_found */
export async function readVersion(
  request: FastifyRequest,
  { registryCalls: { methods } }: MethodRouteParts,
  methodId: MethodId,
  asked = '',
): Promise<Version> {
  if (asked !== '' && !isId('ver', asked)) throw new ServiceError('not_found', 'There is no such version.');
  const { version } = await methods.getVersion({ orgId: callerOf(request).orgId, methodId, version: asked });
  if (version === undefined) throw new ServiceError('internal');
  return version;
}
