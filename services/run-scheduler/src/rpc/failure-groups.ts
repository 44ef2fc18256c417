// Groups failed runs by their cause: method, step, code and the message without what differs from run to run.
import type { ProductionId, RunId } from '@methods/base/ids';
import type { FailedRun } from '../store/run-statistics.ts';

export interface FailureGroup {
  readonly method: ProductionId;
  readonly step: string;
  readonly code: string;
  readonly message: string;
  /** The newest first. */
  readonly runIds: RunId[];
  newestAtMs: number;
  oldestAtMs: number;
}

const GROUPS_MAX = 100;
const MESSAGE_CHARACTERS_MAX = 300;
/** Ids with a prefix, UUIDs, hex digests, times and numbers. Long ones first: a part of an id is none. */
const DIFFERING =
  /\b[a-z]{1,8}_[0-9A-Za-z]{16,}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b|\d+(?:[.,:\-T]\d+)*Z?/gi;

/** The runs are given newest first. Returns the largest groups. */
export function failureGroups(runs: readonly FailedRun[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const { runId, method, failedAtMs, isSealed, error } of runs) {
    // All rounds of a loop fail for the same cause.
    const step = error.step.replaceAll(/\[\d+\]/g, '[#]');
    const message = isSealed ? '' : causeOf(error.message);
    const key = JSON.stringify([method, step, error.code, message]);
    const group = groups.get(key);
    if (group === undefined) {
      const times = { newestAtMs: failedAtMs, oldestAtMs: failedAtMs };
      groups.set(key, { method, step, code: error.code, message, runIds: [runId], ...times });
    } else {
      group.runIds.push(runId);
      group.newestAtMs = Math.max(group.newestAtMs, failedAtMs);
      group.oldestAtMs = Math.min(group.oldestAtMs, failedAtMs);
    }
  }
  return [...groups.values()].toSorted((a, b) => b.runIds.length - a.runIds.length).slice(0, GROUPS_MAX);
}

/** A message may be long: only its beginning is read. */
function causeOf(message: string): string {
  const line = /^[^\r\n]*/.exec(message.slice(0, 4 * MESSAGE_CHARACTERS_MAX).trimStart())?.[0] ?? '';
  return [...line.replaceAll(DIFFERING, '#')].slice(0, MESSAGE_CHARACTERS_MAX).join('');
}
