// A method and its versions, as the registry stores them.
import type { MethodId, OrgId, ProductionId, VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Party } from '../audit/audit-entry.ts';
import { boundedText } from '../text/bounded-text.ts';

export type SchemaVersion = 'method/2' | 'workflow/2' | 'workflow/1';

/** The compilation of a recording. */
export interface Build {
  readonly state: 'queued' | 'running' | 'succeeded' | 'failed';
  /** Since it was last queued. */
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
  /** The current version's format; method/2 without a version. */
  readonly format: SchemaVersion;
  /** Null: the method has only an agent prompt, or a recording without a draft. */
  readonly currentVersion: VersionId | null;
  readonly publishedVersion: VersionId | null;
  readonly createdAt: Date;
  /** The last save, publication or change of the record. */
  readonly updatedAt: Date;
  readonly createdBy: Party;
  readonly hasAgentPrompt: boolean;
  /** Set only for a method created from a recording, which is kept. */
  readonly build: Build | null;
  /** An admin offers it to agents as a separate tool. */
  readonly isOffered: boolean;
}

/**
 * Returns `failed` only if nothing can run: a method with a version saved by hand is ready, even if its recording
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

/** A saved version without its bytes. Only `publishedAt` and `lockSha256` ever change. */
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
  /** The versions that calls without a version were bound to at the save, by production id. */
  readonly calls: Readonly<Record<ProductionId, VersionId>>;
  readonly createdAt: Date;
  readonly createdBy: Party;
  /** When it last became the published version; null: never. */
  readonly publishedAt: Date | null;
  readonly publishedBy: Party | null;
  /** Lower-case hex; null until a worker has stored the lock. */
  readonly lockSha256: string | null;
}

/** A version with the exact bytes that were saved. */
export interface VersionContent {
  readonly version: Version;
  readonly source: Buffer;
  readonly lock: Buffer | null;
}

// General instructions for an agent that a method may have beside its source, or instead of it.

const BYTES_MAX = 64 * 1024;

/** Returns the prompt unchanged. @throws ServiceError too_large over 64 KiB of UTF-8, invalid_request for NUL. */
export function givenAgentPrompt(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes > BYTES_MAX) {
    throw new ServiceError('too_large', 'An agent prompt holds at most 64 KiB.', {
      findings: [{ path: '/agent_prompt', code: 'agent_prompt_bytes', message: `It has ${bytes} bytes.` }],
    });
  }
  if (text.includes('\0')) {
    throw new ServiceError('invalid_request', 'agent_prompt holds a NUL character.', {
      findings: [{ path: '/agent_prompt', code: 'agent_prompt_nul', message: 'It holds a NUL character.' }],
    });
  }
  return text;
}

// The name that people see for a method: their own text, or what its source suggests.

const CODE_POINTS_MAX = 200;
const UNNAMED = 'Untitled method';

/** Returns the caller's display name unchanged, or null when none was given. @throws ServiceError invalid_request. */
export function givenDisplayName(text: string): string | null {
  return text === '' ? null : boundedText('display_name', text, { min: 1, max: CODE_POINTS_MAX });
}

/**
 * Returns the title, else the name, on one line and cut to 200 code points: an author's title must never refuse a save.
 */
export function displayNameFrom(source: { readonly title?: string; readonly name: string }): string {
  for (const text of [source.title ?? '', source.name]) {
    // Control characters, including NUL, which Postgres text cannot hold.
    const line = text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
    if (line !== '') return [...line].slice(0, CODE_POINTS_MAX).join('');
  }
  return UNNAMED;
}
