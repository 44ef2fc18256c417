// A saved version as the documented JSON: what the registry knows of it, and the interface of its source.
import type { MethodId, VersionId } from '@methods/base/ids';
import type { Version } from '@methods/proto/registry/v1/method_pb';
import { type PartyView, partyView, timeView } from './party-view.ts';

/** A version without the fields that only its source has. */
export interface VersionView {
  readonly method_id: MethodId;
  readonly version_id: VersionId;
  readonly schema_version: string;
  /** Hex SHA-256 of the source's exact bytes. */
  readonly sha256: string;
  readonly reason: string;
  readonly created_at: string | null;
  readonly created_by: PartyView | null;
  /** The last time; null: never. */
  readonly published_at: string | null;
  readonly published_by: PartyView | null;
  readonly secrets: readonly string[];
  readonly features: readonly string[];
  readonly lock_sha256: string | null;
}

export function versionView(version: Version): VersionView {
  return {
    method_id: version.methodId,
    version_id: version.versionId,
    schema_version: version.schemaVersion,
    sha256: version.sha256,
    reason: version.reason,
    created_at: timeView(version.createdAtMs),
    created_by: partyView(version.createdBy),
    published_at: timeView(version.publishedAtMs),
    published_by: partyView(version.publishedBy),
    secrets: version.secrets,
    features: version.features,
    lock_sha256: version.lockSha256 || null,
  };
}

/** `fields` and those of its source's interface, which are JSON already (empty: there are none), as one object. */
export function versionJson(fields: object, interfaceFieldsJson: string): string {
  const json = JSON.stringify(fields);
  return interfaceFieldsJson === '' ? json : `${json.slice(0, -1)},${interfaceFieldsJson}}`;
}

/**
 * The exact text. Saved bytes are valid UTF-8, so text and bytes are the same thing twice, a byte order mark included
 * (which a TextDecoder would take away).
 */
export function sourceText(version: Version): string {
  return Buffer.from(version.source.buffer, version.source.byteOffset, version.source.byteLength).toString('utf8');
}
