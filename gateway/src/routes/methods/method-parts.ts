// Shared by the routes of methods: the parts they use and the method a path names.
import { createHash } from 'node:crypto';
import { bareMethodId, type MethodId, type VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Method } from '@methods/proto/registry/v1/method_pb';
import type { AuditLog } from '@methods/service/audit-log';
import type { FastifyRequest } from 'fastify';
import type { MethodRegistry } from '../../clients/method-registry.ts';
import type { RegistryCalls } from '../../clients/registry-calls.ts';
import { callerOf } from '../../plugins/caller.ts';
import { doerOf } from '../../plugins/request-actor.ts';
import type { SourceInterfaces } from '../../sources/source-interfaces.ts';
import { type MethodView, methodView } from '../../views/method-view.ts';

export interface MethodRouteParts {
  readonly registryCalls: RegistryCalls;
  readonly registry: MethodRegistry;
  readonly sourceInterfaces: SourceInterfaces;
  readonly audit: AuditLog;
}

/** Returns the bare id. @throws not_found for a malformed one. */
export function methodIdOf({ id }: { readonly id: string }): MethodId {
  const bare = bareMethodId(id);
  if (bare === null) throw new ServiceError('not_found', 'There is no such method.');
  return bare;
}

/** Returns the method in a reply, which the registry always sends. */
export function sentMethod(method: Method | undefined): MethodView {
  if (method === undefined) throw new ServiceError('internal');
  return methodView(method);
}

/**
 * Records that a caller reads a version's source. The reply does not wait for it, since a source is not a run's
 * content.
 */
export function noteSourceShown(request: FastifyRequest, { audit }: MethodRouteParts, versionId: VersionId): void {
  const { orgId } = callerOf(request);
  audit.note({ orgId, doer: doerOf(request), action: 'version.read', targetId: versionId });
}

/** Returns a source or a key as bytes. A request's JSON holds no lone surrogates. */
export function utf8(text: string): Buffer {
  return Buffer.from(text, 'utf8');
}

/** Hashes a creation key, for storage and look-up. Keys of all routes share one namespace. */
export function keyHash(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest();
}
