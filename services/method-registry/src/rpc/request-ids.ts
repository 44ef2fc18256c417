// Ids and digests in requests. A malformed id names nothing, exactly as another organization's does: not_found for all.
import {
  bareMethodId,
  type EndpointId,
  type Id,
  type IdPrefix,
  isId,
  type KeyId,
  type MethodId,
  type OrgId,
  type RunId,
  type UploadId,
  type UserId,
  type VersionId,
} from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';

const DIGEST_BYTES = 32;

export function orgIdOf(text: string): OrgId {
  return prefixed('org', text, 'organization');
}

export function keyIdOf(text: string): KeyId {
  return prefixed('key', text, 'service key');
}

export function endpointIdOf(text: string): EndpointId {
  return prefixed('ep', text, 'endpoint');
}

export function userIdOf(text: string): UserId {
  return prefixed('usr', text, 'member');
}

export function versionIdOf(text: string): VersionId {
  return prefixed('ver', text, 'version');
}

export function uploadIdOf(text: string): UploadId {
  return prefixed('upl', text, 'upload');
}

export function runIdOf(text: string): RunId {
  return prefixed('run', text, 'run');
}

/** The bare id of either spelling. */
export function methodIdOf(text: string): MethodId {
  const bare = bareMethodId(text);
  if (bare === null) throw new ServiceError('not_found', 'There is no such method.');
  return bare;
}

/** The SHA-256 digest itself. @throws ServiceError invalid_request that names `field`. */
export function digestOf(field: string, bytes: Uint8Array): Uint8Array {
  if (bytes.length === DIGEST_BYTES) return bytes;
  throw new ServiceError('invalid_request', `${field} is a SHA-256 digest of ${DIGEST_BYTES} bytes.`, {
    findings: [{ path: `/${field}`, code: `${field}_bytes`, message: `It has ${bytes.length} bytes.` }],
  });
}

function prefixed<Prefix extends IdPrefix>(prefix: Prefix, text: string, noun: string): Id<Prefix> {
  if (!isId(prefix, text)) throw new ServiceError('not_found', `There is no such ${noun}.`);
  return text;
}
