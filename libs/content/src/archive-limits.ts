// The limits of a run folder, packed or not.

export interface ArchiveLimits {
  /** Sum of the files' bytes. */
  readonly bytesMax: number;
  /** Files and folders together. */
  readonly filesMax: number;
}

export const RUN_FOLDER_LIMITS: ArchiveLimits = { bytesMax: 256 * 1024 * 1024, filesMax: 10_000 };

// Headers, padding and long names beside the files' own bytes; more than this is an attempt to waste our time.
const OVERHEAD_BYTES_PER_FILE = 4096;
const OVERHEAD_BYTES = 1024 * 1024;

/** For an archive within the limits. */
export function unpackedBytesMax({ bytesMax, filesMax }: ArchiveLimits): number {
  return bytesMax + OVERHEAD_BYTES + filesMax * OVERHEAD_BYTES_PER_FILE;
}
