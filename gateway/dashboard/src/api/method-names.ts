// The methods of the organization by their ids, for the lists that name them.
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { got } from './client.ts';
import type { ListedMethod } from './shapes.ts';
import { useApi } from './use-api.ts';

const PAGE = 200;
/** 2,000 methods; others are shown by their ids. */
const PAGES_MAX = 10;

export function useMethods() {
  const { org, api } = useApi();
  return useQuery({
    queryKey: [org, 'methods', 'all'],
    async queryFn({ signal }) {
      const found: ListedMethod[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < PAGES_MAX; page++) {
        const query: { limit: number; cursor?: string } = { limit: PAGE, ...(cursor !== null && { cursor }) };
        const { items, next_cursor } = await got(api.GET('/api/methods', { params: { query }, signal }));
        found.push(...items);
        cursor = next_cursor;
        if (cursor === null) break;
      }
      return found;
    },
    staleTime: 120_000,
    meta: { staleOn: ['method', 'build'], everyMs: 5_000 },
  });
}

/** Returns a method's name by its production id, wf_…, or the id while it is unknown. */
export function useMethodName(): (productionId: string) => string {
  const { data } = useMethods();
  const names = useMemo(() => new Map(data?.map((each) => [each.production_id, each.display_name])), [data]);
  return (productionId) => names.get(productionId) ?? productionId;
}
