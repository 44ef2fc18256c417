// What the page asks beside the list: counts over time, and what needs a hand.
import { useQuery } from '@tanstack/react-query';
import { got } from '../../api/client.ts';
import type { operations } from '../../api/gen/openapi.ts';
import type { Reply } from '../../api/shapes.ts';
import { useApi } from '../../api/use-api.ts';

export type Statistics = Reply<'countRuns'>;
export type Warnings = Reply<'listWarnings'>;
export type Counts = Statistics['totals'];
type StatisticsQuery = operations['countRuns']['parameters']['query'];

/** `filter`: as queries of the list spell it. */
export function useStatistics(filter: Readonly<Record<string, string>>) {
  const { org, api } = useApi();
  return useQuery({
    queryKey: [org, 'runs', 'statistics', filter],
    queryFn: ({ signal }) => {
      const query = { buckets: 96, ...filter } as StatisticsQuery;
      return got(api.GET('/api/runs/statistics', { params: { ...(query && { query }) }, signal }));
    },
    placeholderData: (before) => before,
    meta: { staleOn: ['run'], everyMs: 10_000 },
  });
}

export function useWarnings() {
  const { org, api } = useApi();
  return useQuery({
    queryKey: [org, 'warnings'],
    queryFn: ({ signal }) => got(api.GET('/api/warnings', { signal })),
    meta: { staleOn: ['run', 'question', 'delivery', 'workers'], everyMs: 10_000 },
  });
}
