// Saves a new version of a method on the one that its writer knows, and replies to the save.
import type { MethodId, VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Finding } from '@methods/proto/error/v1/error_detail_pb';
import type { Version } from '@methods/proto/registry/v1/method_pb';
import type { FastifyRequest } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { doerOf } from '../../plugins/request-actor.ts';
import { findingView } from '../../views/finding-view.ts';
import { type MethodRouteParts, utf8 } from './method-parts.ts';

export interface NewVersion {
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
