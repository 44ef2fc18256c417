// POST /api/methods: creates a method from a source, an agent prompt, both, or a finished upload, once for each key;
// and POST /api/methods/validate, which saves nothing.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { MethodId, VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Finding } from '@methods/proto/error/v1/error_detail_pb';
import type { Version } from '@methods/proto/registry/v1/method_pb';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { doerOf } from '../../plugins/request-actor.ts';
import { findingView } from '../../views/method-view.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { keyHash, type MethodRouteParts, sentMethod, utf8 } from './method-parts.ts';
import { CreatedMethod, CreateMethodBody, ValidateBody, Validation } from './method-schemas.ts';
import { described, type Spelling, spelled, spelledShape } from './spelling.ts';

export function addCreateMethod(scope: FastifyInstance, parts: MethodRouteParts, spelling: Spelling): void {
  const created = spelledShape(CreatedMethod, spelling);
  const schema = {
    ...described(spelling, 'createMethod', 'Create a method'),
    body: CreateMethodBody,
    querystring: NoQuery,
    response: replies({
      201: created,
      200: {
        ...created,
        description: 'The key is known: returns the method it created. The other fields are ignored.',
      },
    }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .post(`/api/${spelling.noun}`, { schema, config: { access: 'member', source: true } }, async (request, reply) => {
      const made = await createdMethod(request, parts, request.body);
      reply.code(made.created ? 201 : 200).header('content-type', JSON_TYPE);
      return JSON.stringify(spelled(made, spelling));
    });
}

/** Returns the method of a key, created now or before. @throws ServiceError if the creation is refused */
export async function createdMethod(
  request: FastifyRequest,
  { registryCalls: { methods } }: MethodRouteParts,
  asked: Static<typeof CreateMethodBody>,
) {
  const { orgId } = callerOf(request);
  const idempotencyHash = keyHash(asked.idempotency_key);
  const refusal = contentRefusal(asked);
  const made =
    refusal === null
      ? await methods.createMethod({
          orgId,
          idempotencyHash,
          displayName: asked.display_name ?? '',
          source: utf8(asked.source ?? ''),
          agentPrompt: asked.agent_prompt ?? '',
          uploadId: asked.upload_id ?? '',
          doer: doerOf(request),
        })
      : await earlierOr(refusal);
  return { method: sentMethod(made.method), created: made.created, warnings: made.warnings.map(findingView) };

  // A key that has created a method gets it, even if the request would be refused today.
  async function earlierOr(refused: ServiceError) {
    const { method } = await methods.findCreation({ orgId, idempotencyHash });
    if (method === undefined) throw refused;
    return { method, created: false, warnings: [] };
  }
}

function contentRefusal({ source, agent_prompt, upload_id }: Static<typeof CreateMethodBody>): ServiceError | null {
  const hasContent = source !== undefined || agent_prompt !== undefined;
  if (hasContent !== (upload_id !== undefined)) return null;
  const message = hasContent
    ? '"upload_id" goes with neither "source" nor "agent_prompt".'
    : 'One of "source", "agent_prompt" and "upload_id" is needed.';
  return new ServiceError('invalid_request', message, {
    findings: [{ path: hasContent ? '/upload_id' : '', code: 'one_of', message }],
  });
}

/** POST /api/methods/validate: returns what saving a source would find. Saves nothing. */
export function addValidateSource(scope: FastifyInstance, parts: MethodRouteParts, spelling: Spelling): void {
  const schema = {
    ...described(spelling, 'validateSource', 'Check a source without saving it'),
    body: ValidateBody,
    querystring: NoQuery,
    response: replies({ 200: Validation }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .post(
      `/api/${spelling.noun}/validate`,
      { schema, config: { access: 'viewer', source: true } },
      async (request, reply) => {
        const validation = await validatedSource(request, parts, request.body.source);
        reply.header('content-type', JSON_TYPE);
        return JSON.stringify(validation);
      },
    );
}

/** What saving this source would find. */
export async function validatedSource(
  request: FastifyRequest,
  { registryCalls: { methods } }: MethodRouteParts,
  source: string,
) {
  const { ok, findings } = await methods.validateSource({ orgId: callerOf(request).orgId, source: utf8(source) });
  return { ok, diagnostics: findings.map(findingView) };
}

// Saves a new version of a method on the one that its writer knows, and replies to the save.
interface NewVersion {
  readonly methodId: MethodId;
  /** The current version that the writer knows; empty: the method has none. */
  readonly baseVersion: VersionId | '';
  readonly source: string;
  readonly reason: string;
}

interface Saved {
  readonly version: Version;
  readonly created: boolean;
  readonly warnings: readonly Finding[];
}

/** @throws version_conflict, invalid_method and other ServiceErrors for what refuses it */
export async function savedVersion(
  request: FastifyRequest,
  { registryCalls: { methods } }: MethodRouteParts,
  { source, ...asked }: NewVersion,
) {
  const { version, created, warnings } = await methods.saveVersion({
    orgId: callerOf(request).orgId,
    ...asked,
    source: utf8(source),
    doer: doerOf(request),
  });
  if (version === undefined) throw new ServiceError('internal');
  return savedView({ version, created, warnings });
}

export function savedView({ version, created, warnings }: Saved) {
  return {
    method_id: version.methodId,
    version_id: version.versionId,
    sha256: version.sha256,
    schema_version: version.schemaVersion,
    created,
    warnings: warnings.map(findingView),
  };
}
