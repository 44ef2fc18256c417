// What a method and its versions are, as the registry keeps them.

export type SchemaVersion = 'method/2' | 'workflow/2' | 'workflow/1';

export interface Method {
  readonly orgId: string;
  /** Bare id. */
  readonly methodId: string;
  /** 1–200 code points. */
  readonly displayName: string;
  /** The current version's format. */
  readonly format: SchemaVersion;
  readonly currentVersion: string;
  readonly publishedVersion: string | null;
  readonly createdAt: Date;
  /** The last save or publication. */
  readonly updatedAt: Date;
  readonly createdBy: string;
}

/** A saved version without its bytes. All but `publishedAt` and `lockSha256` never changes. */
export interface Version {
  readonly methodId: string;
  readonly versionId: string;
  readonly schemaVersion: SchemaVersion;
  /** Lower-case hex of the source's bytes. */
  readonly sha256: string;
  readonly reason: string;
  readonly features: readonly string[];
  /** Names of the declared secrets. */
  readonly secrets: readonly string[];
  /** Versions that calls without one are bound to since the save, by production id. */
  readonly calls: Readonly<Record<string, string>>;
  readonly createdAt: Date;
  readonly createdBy: string;
  /** When it was last made the published version; null when never. */
  readonly publishedAt: Date | null;
  /** Lower-case hex; null until a worker stored the lock. */
  readonly lockSha256: string | null;
}

/** A version with the exact bytes that were saved. */
export interface VersionContent {
  readonly version: Version;
  readonly source: Buffer;
  readonly lock: Buffer | null;
}
