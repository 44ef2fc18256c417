// GET of a method's versions: the list, and one with its exact source.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { isId, type MethodId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Version } from '@methods/proto/registry/v1/method_pb';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { sourceText, versionJson, versionView } from '../../views/version-view.ts';
import { pageRequest, readLimit } from '../page-query.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { type MethodRouteParts, methodIdOf, noteSourceShown } from './method-parts.ts';
import { MethodParams, pageOf, SourceVersion, VersionInList, VersionParams, VersionsQuery } from './method-schemas.ts';
import { described, type Spelling, spelled, spelledShape } from './spelling.ts';

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
