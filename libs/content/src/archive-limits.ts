// What a run folder may hold at most, packed or not.

export interface ArchiveLimits {
  /** Sum of the files' bytes. */
  readonly bytesMax: number;
  /** Files and folders together. */
  readonly filesMax: number;
}

export const RUN_FOLDER_LIMITS: ArchiveLimits = { bytesMax: 256 * 1024 * 1024, filesMax: 10_000 };
