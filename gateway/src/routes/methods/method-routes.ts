// The routes of methods and versions, under both their names.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { addChangeMethod } from './change-method.ts';
import { addCreateMethod, addValidateSource, savedVersion } from './create-method.ts';
import { type MethodRouteParts, methodIdOf } from './method-parts.ts';
import { MethodParams, SavedVersion, SaveVersionBody } from './method-schemas.ts';
import { addFindCreation, addReadMethods, addReadVersions } from './read-methods.ts';
import { described, SPELLINGS, type Spelling, spelled, spelledShape } from './spelling.ts';

/** For the scope `api`. */
export function addMethodRoutes(scope: FastifyInstance, parts: MethodRouteParts): void {
  for (const spelling of SPELLINGS) {
    addCreateMethod(scope, parts, spelling);
    addReadMethods(scope, parts, spelling);
    addChangeMethod(scope, parts, spelling);
    addSaveVersion(scope, parts, spelling);
    addReadVersions(scope, parts, spelling);
    addValidateSource(scope, parts, spelling);
  }
  addFindCreation(scope, parts);
}

// POST /api/methods/:id/versions: saves a new version on the one that its writer knows, as pages and programs of people
// do. The command line has a route of its own.

function addSaveVersion(scope: FastifyInstance, parts: MethodRouteParts, spelling: Spelling): void {
  const saved = spelledShape(SavedVersion, spelling);
  const schema = {
    ...described(spelling, 'saveVersion', 'Save a new version upon the current one'),
    description:
      'The exact text of the current version again saves nothing. If another version has been saved since ' +
      '`base_version`, the reply is 409 `version_conflict` with `current_version`: merge the texts and save again.',
    params: MethodParams,
    querystring: NoQuery,
    body: SaveVersionBody,
    response: replies({
      201: saved,
      200: { ...saved, description: 'The current version already holds this text.' },
    }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .post(
      `/api/${spelling.noun}/:id/versions`,
      { schema, config: { access: 'member', source: true } },
      async (request, reply) => {
        const { source, base_version: baseVersion, reason } = request.body;
        const version = { methodId: methodIdOf(request.params), baseVersion, source, reason };
        const made = await savedVersion(request, parts, version);
        reply.code(made.created ? 201 : 200).header('content-type', JSON_TYPE);
        return JSON.stringify(spelled(made, spelling));
      },
    );
}
