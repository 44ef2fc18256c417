// The results of runs in device mode that this worker made. They stay on this machine: the application asks for those of
// the runs it waits for, also some time after their end.
import type { JsonObject } from '@methods/method/json';
import { LRUCache } from 'lru-cache';

interface Kept {
  readonly attempt: number;
  readonly result: JsonObject;
  readonly bytes: number;
}

/** Runs of other callers are executed too, and no one asks for their results. The eldest go first. */
const BYTES_MAX = 64 * 1024 * 1024;
const ENTRY_BYTES = 256;

export class KeptResults {
  private readonly kept: LRUCache<string, Kept>;

  constructor(bytesMax = BYTES_MAX) {
    this.kept = new LRUCache({ maxSize: bytesMax, sizeCalculation: ({ bytes }) => bytes });
  }

  /**
   * Called before the end is reported: it is here when the application learns that the run has succeeded. Returns the
   * length of its JSON.
   */
  keep({ contentId, attempt }: { readonly contentId: string; readonly attempt: number }, result: JsonObject): number {
    const { length } = JSON.stringify(result);
    this.kept.set(contentId, { attempt, result, bytes: ENTRY_BYTES + length });
    return length;
  }

  /** Undefined: another worker made it, perhaps in an attempt after the one here. */
  of(contentId: string, attempts: number): JsonObject | undefined {
    const kept = this.kept.get(contentId);
    return kept?.attempt === attempts ? kept.result : undefined;
  }
}
