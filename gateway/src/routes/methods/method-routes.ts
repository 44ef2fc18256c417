// The routes of methods and versions, under both their names.
import type { FastifyInstance } from 'fastify';
import { addChangeMethod } from './change-method.ts';
import { addCreateMethod, addValidateSource } from './create-method.ts';
import type { MethodRouteParts } from './method-parts.ts';
import { addFindCreation, addReadMethods, addReadVersions } from './read-methods.ts';
import { addSaveVersion } from './save-version.ts';
import { SPELLINGS } from './spelling.ts';

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
