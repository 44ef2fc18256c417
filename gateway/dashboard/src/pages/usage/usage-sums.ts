// Adds up usage: a day and method that continue on the next page of the API have a row on each.
import type { UsageRow } from '../../api/shapes.ts';

interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  /** It is made of several rows: the middle of their values, by their runs. */
  readonly isAbout: boolean;
}

export interface UsageSum {
  readonly key: string;
  readonly day: string | null;
  readonly method: string | null;
  readonly runs: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly unfinished: number;
  readonly answers: number;
  readonly running: Percentiles;
  readonly queued: Percentiles;
  readonly answering: Percentiles;
}

export type UsageBy = 'day' | 'method' | 'both';

/** In the order in which the rows first name them. */
export function sumUsage(rows: readonly UsageRow[], by: UsageBy): UsageSum[] {
  const groups = new Map<string, UsageRow[]>();
  for (const row of rows) {
    const key = `${by === 'method' ? '' : row.day} ${by === 'day' ? '' : row.method}`;
    const parts = groups.get(key);
    if (parts === undefined) groups.set(key, [row]);
    else parts.push(row);
  }
  return [...groups].map(([key, parts]) => sumOf(key, parts, by));
}

function sumOf(key: string, parts: readonly UsageRow[], by: UsageBy): UsageSum {
  const [first] = parts;
  const total = (of: (row: UsageRow) => number) => parts.reduce((sum, row) => sum + of(row), 0);
  return {
    key,
    day: by === 'method' ? null : (first?.day ?? null),
    method: by === 'day' ? null : (first?.method ?? null),
    runs: total(({ runs }) => runs),
    succeeded: total(({ succeeded }) => succeeded),
    failed: total(({ failed }) => failed),
    cancelled: total(({ cancelled }) => cancelled),
    unfinished: total(({ unfinished }) => unfinished),
    answers: total(({ answers }) => answers),
    running: percentilesOf(
      parts,
      ({ running_ms }) => running_ms,
      ({ runs }) => runs,
    ),
    queued: percentilesOf(
      parts,
      ({ queued_ms }) => queued_ms,
      ({ runs }) => runs,
    ),
    answering: percentilesOf(
      parts,
      ({ answering_ms }) => answering_ms,
      ({ answers }) => answers,
    ),
  };
}

function percentilesOf(
  parts: readonly UsageRow[],
  of: (row: UsageRow) => { readonly p50: number; readonly p95: number },
  weightOf: (row: UsageRow) => number,
): Percentiles {
  const counted = parts.filter((row) => weightOf(row) > 0);
  const weight = counted.reduce((sum, row) => sum + weightOf(row), 0);
  const middle = (value: (row: UsageRow) => number) =>
    weight === 0 ? 0 : counted.reduce((sum, row) => sum + value(row) * weightOf(row), 0) / weight;
  return { p50: middle((row) => of(row).p50), p95: middle((row) => of(row).p95), isAbout: counted.length > 1 };
}

/** The first of the last `days` days up to today, in UTC as the API counts them: 2026-11-25. */
export function firstDay(nowMs: number, days: number): string {
  return new Date(nowMs - (days - 1) * 86_400_000).toISOString().slice(0, 10);
}
