// The causes of the newest failed runs that match the filter of the list.
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Search } from '../../address/search.ts';
import { got } from '../../api/client.ts';
import type { ListedRun } from '../../api/shapes.ts';
import { useApi } from '../../api/use-api.ts';
import { causesOf } from './causes.ts';
import { filterNames, filterQuery } from './run-filter.ts';

const PAGE = 200;
const PAGES_MAX = 5;

export function useCauses(search: Search) {
  const { org, api } = useApi();
  const filters = useMemo(
    () => Object.fromEntries(filterNames(search).map((name) => [name, search[name] ?? ''])),
    [search],
  );
  return useQuery({
    queryKey: [org, 'runs', 'causes', filters],
    queryFn: async ({ signal }) => {
      const filter = { ...filterQuery(filters, Date.now()), status: 'failed', limit: PAGE };
      const runs: ListedRun[] = [];
      let cursor: string | null = '';
      for (let page = 0; page < PAGES_MAX && cursor !== null; page++) {
        const query: object = { ...filter, ...(cursor !== '' && { cursor }) };
        const reply: { items: unknown[]; next_cursor: string | null } = await got(
          api.GET('/api/runs', { params: { query }, signal }),
        );
        runs.push(...(reply.items as ListedRun[]));
        cursor = reply.next_cursor;
      }
      return { causes: causesOf(runs), runs: runs.length, isAll: cursor === null };
    },
    meta: { staleOn: ['run'], everyMs: 30_000 },
  });
}
