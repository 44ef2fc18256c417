// GET /v1/methods/:id: returns what a program needs to call a method: its names and versions, and the inputs, the
// result, the questions and the workers' secrets of one version. Never the source.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { isId, type MethodId, type OrgId, productionMethodId, type VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Version } from '@methods/proto/registry/v1/method_pb';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { versionJson } from '../../views/method-view.ts';
import { timeView } from '../../views/party-view.ts';
import { replies } from '../reply-schemas.ts';
import { type MethodRouteParts, methodIdOf } from './method-parts.ts';
import { CallerMethod, MethodParams } from './method-schemas.ts';

const VERSIONS_SHOWN = 50;

const Query = Type.Object(
  {
    version: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'A version id, ver_…; default: the published version, or the current one where none is published.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** For the scope `service`. */
export function addGetCallerMethod(scope: FastifyInstance, parts: MethodRouteParts): void {
  const { methods } = parts.registryCalls;
  const schema = {
    operationId: 'getCallerMethod',
    summary: 'Read what a caller of a method needs',
    tags: ['runs'],
    params: MethodParams,
    querystring: Query,
    response: replies({ 200: CallerMethod }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .get('/v1/methods/:id', { schema, config: { access: 'viewer' } }, async (request, reply) => {
      const { orgId } = callerOf(request);
      const methodId = methodIdOf(request.params);
      const { version: asked } = request.query;
      if (asked !== undefined && !isId('ver', asked)) throw new ServiceError('not_found', 'There is no such version.');
      const [{ method }, { versions }] = await Promise.all([
        methods.getMethod({ orgId, methodId }),
        methods.listVersions({ orgId, methodId, cursor: '', limit: VERSIONS_SHOWN }),
      ]);
      if (method === undefined) throw new ServiceError('internal');
      const shown = asked ?? (method.publishedVersion || method.currentVersion);
      const version = shown === '' ? null : await versionOf(orgId, methodId, shown);
      reply.header('content-type', JSON_TYPE);
      const view = {
        method: productionMethodId(methodId),
        display_name: method.displayName,
        status: method.status,
        current_version: method.currentVersion || null,
        published_version: method.publishedVersion || null,
        versions: versions.map((each) => ({
          version_id: each.versionId,
          created_at: timeView(each.createdAtMs),
          published_at: timeView(each.publishedAtMs),
        })),
        version_id: version?.versionId ?? null,
        ...(version === null ? {} : { schema_version: version.schemaVersion, secrets: version.secrets }),
      };
      const told = version === null ? '' : await parts.sourceInterfaces.fieldsJson({ orgId, ...version });
      return versionJson(view, told);
    });

  async function versionOf(orgId: OrgId, methodId: MethodId, versionId: VersionId): Promise<Version> {
    const { version } = await methods.getVersion({ orgId, methodId, version: versionId });
    if (version === undefined) throw new ServiceError('internal');
    return version;
  }
}
