// Reads ids, digests and actors of requests. A malformed id names nothing, like another organization's id: not_found
// for all.
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
import type { Doer as DoerMessage } from '@methods/proto/registry/v1/account_pb';
import type { Doer } from '../audit/audit-entry.ts';
import { boundedText } from '../text/bounded-text.ts';

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

/** Returns the bare id of either spelling. */
export function methodIdOf(text: string): MethodId {
  const bare = bareMethodId(text);
  if (bare === null) throw new ServiceError('not_found', 'There is no such method.');
  return bare;
}

/** Returns the SHA-256 digest itself. @throws ServiceError invalid_request that names `field`. */
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

// Reads the actor that a request names: the gateway has authenticated it, and only its form is checked here.

const PREFIXES = { user: 'usr', service_key: 'key', upload: 'upl' } as const;

/** @throws ServiceError invalid_request where it is missing or incomplete. */
export function doerOf(message: DoerMessage | undefined): Doer {
  if (message === undefined) throw new ServiceError('invalid_request', 'The request has no caller.');
  const { kind } = message;
  if (kind !== 'system' && !Object.hasOwn(PREFIXES, kind))
    throw new ServiceError('invalid_request', 'Unknown kind of caller.');
  const id = boundedText('doer.id', message.id, { min: 1, max: 128 });
  if (kind !== 'system' && !isId(PREFIXES[kind as keyof typeof PREFIXES], id)) {
    throw new ServiceError('invalid_request', "The actor's id is malformed.");
  }
  const client = boundedText('doer.client', message.client, { min: 0, max: 200 });
  return { kind: kind as Doer['kind'], id, ...originOf(message), ...(client !== '' && { client }) };
}

/** Reads the origin of a request. @throws ServiceError invalid_request. */
export function originOf({ ip, requestId }: { ip: string; requestId: string }): Pick<Doer, 'ip' | 'requestId'> {
  return {
    ip: boundedText('ip', ip, { min: 0, max: 64 }),
    requestId: boundedText('request_id', requestId, { min: 0, max: 128 }),
  };
}
