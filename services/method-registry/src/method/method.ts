// A method and its versions, as the registry keeps them.
import type { MethodId, OrgId, ProductionId, VersionId } from '@methods/base/ids';
import type { Party } from '../audit/doer.ts';

export type SchemaVersion = 'method/2' | 'workflow/2' | 'workflow/1';

/** The compiling of a recording. */
export interface Build {
  readonly state: 'queued' | 'running' | 'succeeded' | 'failed';
  /** Since it was queued the last time. */
  readonly attempts: number;
  /** A sentence for people; empty unless it failed. */
  readonly error: string;
}

export interface Method {
  readonly orgId: OrgId;
  /** Bare id. */
  readonly methodId: MethodId;
  /** 1–200 code points. */
  readonly displayName: string;
  /** The current version's format; method/2 without one. */
  readonly format: SchemaVersion;
  /** Null: a method of an agent prompt, or of a recording without a draft. */
  readonly currentVersion: VersionId | null;
  readonly publishedVersion: VersionId | null;
  readonly createdAt: Date;
  /** The last save, publication or change of the record. */
  readonly updatedAt: Date;
  readonly createdBy: Party;
  readonly hasAgentPrompt: boolean;
  /** Only of a method made from a recording, which is kept. */
  readonly build: Build | null;
  /** An admin offers it to agents as a tool of its own. */
  readonly isOffered: boolean;
}

/**
 * `failed` only while there is nothing to run: a method with a version saved by hand is ready, even if its recording
 * failed.
 */
export function methodStatus({ build, currentVersion }: Method): 'building' | 'ready' | 'failed' {
  if (build?.state === 'queued' || build?.state === 'running') return 'building';
  return build?.state === 'failed' && currentVersion === null ? 'failed' : 'ready';
}

/** The fields of a method that can be read. */
export function availableRecords(method: Method): ('source' | 'agent_prompt' | 'recording')[] {
  return [
    ...(method.currentVersion === null ? [] : (['source'] as const)),
    ...(method.hasAgentPrompt ? (['agent_prompt'] as const) : []),
    ...(method.build === null ? [] : (['recording'] as const)),
  ];
}

/** A saved version without its bytes. All but `publishedAt` and `lockSha256` never changes. */
export interface Version {
  readonly methodId: MethodId;
  readonly versionId: VersionId;
  readonly schemaVersion: SchemaVersion;
  /** Lower-case hex of the source's bytes. */
  readonly sha256: string;
  readonly reason: string;
  readonly features: readonly string[];
  /** Names of the declared secrets. */
  readonly secrets: readonly string[];
  /** Versions that calls without one are bound to since the save, by production id. */
  readonly calls: Readonly<Record<ProductionId, VersionId>>;
  readonly createdAt: Date;
  readonly createdBy: Party;
  /** When it was last made the published version; null when never. */
  readonly publishedAt: Date | null;
  readonly publishedBy: Party | null;
  /** Lower-case hex; null until a worker stored the lock. */
  readonly lockSha256: string | null;
}

/** A version with the exact bytes that were saved. */
export interface VersionContent {
  readonly version: Version;
  readonly source: Buffer;
  readonly lock: Buffer | null;
}
