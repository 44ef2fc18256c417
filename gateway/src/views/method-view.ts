// A method, and a version of it, as the documented JSON objects.
import { type MethodId, productionMethodId, type VersionId } from '@methods/base/ids';
import type { Finding } from '@methods/proto/error/v1/error_detail_pb';
import type { Method, Version } from '@methods/proto/registry/v1/method_pb';
import { type PartyView, partyView, timeView } from './party-view.ts';

export interface MethodView {
  readonly id: string;
  readonly production_id: string;
  readonly display_name: string;
  /** building, ready or failed. */
  readonly status: string;
  readonly format: string;
  readonly current_version: VersionId | null;
  readonly published_version: VersionId | null;
  readonly available_records: readonly string[];
  readonly build: { readonly state: string; readonly attempts: number; readonly error: string | null } | null;
  readonly offered_to_agents: boolean;
  readonly created_at: string | null;
  readonly updated_at: string | null;
  readonly created_by: PartyView | null;
}

export function methodView(method: Method): MethodView {
  const { build } = method;
  return {
    id: method.methodId,
    production_id: productionMethodId(method.methodId),
    display_name: method.displayName,
    status: method.status,
    format: method.format,
    current_version: method.currentVersion || null,
    published_version: method.publishedVersion || null,
    available_records: method.availableRecords,
    build: build ? { state: build.state, attempts: build.attempts, error: build.error || null } : null,
    offered_to_agents: method.offeredToAgents,
    created_at: timeView(method.createdAtMs),
    updated_at: timeView(method.updatedAtMs),
    created_by: partyView(method.createdBy),
  };
}

// A saved version as the documented JSON: what the registry knows of it, and the interface of its source.

/** A version without the fields that only its source has. */
interface VersionView {
  readonly method_id: MethodId;
  readonly version_id: VersionId;
  readonly schema_version: string;
  /** Hex SHA-256 of the source's exact bytes. */
  readonly sha256: string;
  readonly reason: string;
  readonly created_at: string | null;
  readonly created_by: PartyView | null;
  /** The last publication; null: never. */
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

/**
 * Joins `fields` and those of its source's interface, which are JSON already (empty: there are none), to one object.
 */
export function versionJson(fields: object, interfaceFieldsJson: string): string {
  const json = JSON.stringify(fields);
  return interfaceFieldsJson === '' ? json : `${json.slice(0, -1)},${interfaceFieldsJson}}`;
}

/**
 * The exact text. Saved bytes are valid UTF-8, so text and bytes correspond, including a byte order mark (which a
 * TextDecoder would remove).
 */
export function sourceText(version: Version): string {
  return Buffer.from(version.source.buffer, version.source.byteOffset, version.source.byteLength).toString('utf8');
}

// A finding in a reply that is not an error: warnings of a save, and the findings of a validation.
interface FindingView {
  readonly path: string;
  readonly code: string;
  readonly message: string;
  readonly severity?: string;
  /** From 1. */
  readonly line?: number;
  readonly column?: number;
  readonly end_line?: number;
  readonly end_column?: number;
  readonly hint?: string;
}

export function findingView(finding: Finding): FindingView {
  const { path, code, message, severity, line, column, endLine, endColumn, hint } = finding;
  return {
    path,
    code,
    message,
    ...(severity === '' ? {} : { severity }),
    ...(line > 0 ? { line, column, end_line: endLine, end_column: endColumn } : {}),
    ...(hint === '' ? {} : { hint }),
  };
}
