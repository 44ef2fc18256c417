// What the page asks beside the list: counts over time, and what needs a hand.
import { useQuery } from '@tanstack/react-query';
import { ask } from '../../api/ask.ts';
import type { RunStatus } from '../../api/shapes.ts';
import { useApi } from '../../api/use-api.ts';

export type Counts = Readonly<Record<RunStatus, number>>;

interface Bucket extends Counts {
  readonly at: string;
  readonly running_p50_ms: number;
  readonly queued_max_ms: number;
}

export interface Statistics {
  readonly from: string;
  readonly to: string;
  readonly bucket_ms: number;
  readonly complete: boolean;
  readonly totals: Counts;
  readonly running_ms: { readonly p50: number; readonly p95: number };
  readonly buckets: readonly Bucket[];
}

export interface Warnings {
  readonly items: readonly {
    readonly kind: string;
    readonly method?: string;
    readonly needs?: readonly string[];
    readonly count: number;
    readonly more: boolean;
    readonly since?: string | null;
  }[];
  readonly queue: { readonly count: number; readonly more: boolean; readonly oldest_queued_at: string | null };
}

/** `filter`: as queries of the list spell it. */
export function useStatistics(filter: Readonly<Record<string, string>>) {
  const { org } = useApi();
  return useQuery({
    queryKey: [org, 'runs', 'statistics', filter],
    queryFn: ({ signal }) =>
      ask<Statistics>(org, `/api/runs/statistics?${new URLSearchParams({ buckets: '96', ...filter })}`, { signal }),
    placeholderData: (before) => before,
    meta: { staleOn: ['run'], everyMs: 10_000 },
  });
}

export function useWarnings() {
  const { org } = useApi();
  return useQuery({
    queryKey: [org, 'warnings'],
    queryFn: ({ signal }) => ask<Warnings>(org, '/api/warnings', { signal }),
    meta: { staleOn: ['run', 'question', 'delivery'], everyMs: 10_000 },
  });
}
