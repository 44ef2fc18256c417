// Owns amounts with bounds: whole numbers, numbers and durations (M801, M803).
import type { Findings } from '../source/findings.ts';
import type { SourceEntry } from '../source/source-node.ts';
import { parseDuration } from './duration.ts';

const DAY_MS = 86_400_000;

/** Least and most, both allowed. */
export type Between = readonly [least: number, most: number];

/** A whole number; undefined without the key, or with a finding. */
export function readCount(
  findings: Findings,
  entry: SourceEntry | undefined,
  path: string,
  key: string,
  between: Between,
  hint?: string,
): number | undefined {
  return readAmount(findings, entry, path, `${key} is a whole number`, between, Number.isInteger, hint);
}

/** A number; undefined without the key, or with a finding. */
export function readNumber(
  findings: Findings,
  entry: SourceEntry | undefined,
  path: string,
  key: string,
  between: Between,
): number | undefined {
  return readAmount(findings, entry, path, `${key} is a number`, between, Number.isFinite);
}

function readAmount(
  findings: Findings,
  entry: SourceEntry | undefined,
  path: string,
  sentence: string,
  [least, most]: Between,
  fine: (value: number) => boolean,
  hint?: string,
): number | undefined {
  if (!entry) return undefined;
  const value = entry.value.kind === 'scalar' ? entry.value.value : undefined;
  if (typeof value === 'number' && fine(value) && value >= least && value <= most) return value;
  const nearest = typeof value === 'number' && value > most ? most : least;
  findings.add('M803', `${sentence} from ${least} to ${most}`, path, entry.value.range, {
    hint: hint ?? `write  ${entry.key}: ${nearest}`,
  });
  return undefined;
}

export interface GivenDuration {
  readonly ms: number;
  /** The author's spelling. */
  readonly text: string;
}

/** A duration such as `1h30m`; undefined without the key, or with a finding. */
export function readDuration(
  findings: Findings,
  entry: SourceEntry | undefined,
  path: string,
  [leastMs, mostMs]: Between,
): GivenDuration | undefined {
  if (!entry) return undefined;
  const node = entry.value;
  const text = node.kind === 'scalar' ? node.text : '';
  const ms = parseDuration(text);
  if (ms === undefined) {
    const hint = /^\d+$/.test(text) ? `write ${text}s, or ${text}ms` : 'write 30s, 5m, 1h30m or 3d';
    findings.add('M801', 'this is not a duration', path, node.range, { hint });
    return undefined;
  }
  if (ms < leastMs || ms > mostMs) {
    const most = `${Math.floor(mostMs / DAY_MS)}d`;
    findings.add('M803', `a duration here is ${leastMs}ms to ${most}`, path, node.range, {
      hint: `write  ${entry.key}: ${ms > mostMs ? most : `${leastMs}ms`}`,
    });
    return undefined;
  }
  return { ms, text };
}
