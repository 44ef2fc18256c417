// Owns what a caller knows of the methods it calls.
import type { JsonSchema } from '../json.ts';

/** The interface of a called method: its compiled `inputSchema` and `resultSchema`. */
export interface Callee {
  readonly inputSchema: JsonSchema;
  readonly resultSchema: JsonSchema;
}

/**
 * Finds a called method by the target as it is written (`wf_…`, `wf_…@ver_…`, `wf_…@published`, `./file.method`).
 * `missing`: there is none (M514); `cycle`, `too_deep`: it calls this method again, or calls nest deeper than 5 (M515);
 * undefined: not known here, so the call is not checked. Must not throw.
 */
export type Callees = (target: string) => Callee | 'missing' | 'cycle' | 'too_deep' | undefined;
