// How large the files among the inputs of a run may be: one rule for clients, servers and local runs.

export interface FileLimits {
  /** Of one file. */
  readonly fileBytesMax: number;
  readonly filesMax: number;
  /** Of all of them together. */
  readonly bytesMax: number;
}

export const INPUT_FILE_LIMITS: FileLimits = { fileBytesMax: 100 * 1024 ** 2, filesMax: 100, bytesMax: 1024 ** 3 };

/** `bytes` in MiB, as a limit reads. */
export function mebibytes(bytes: number): string {
  return `${Math.ceil((10 * bytes) / 1024 ** 2) / 10} MiB`;
}
