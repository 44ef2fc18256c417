// The runs of the list: pages that are loaded as one scrolls, changed in place by events, with new ones gathered beside.
import { type InfiniteData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { Search } from '../../address/search.ts';
import { got } from '../../api/client.ts';
import type { ListedRun, RunPage } from '../../api/shapes.ts';
import { useApi } from '../../api/use-api.ts';
import { useEvents } from '../../live/live-events.tsx';
import { isNewer, isOfFilter, withChangedRun } from './new-runs.ts';
import { filterNames, filterQuery } from './run-filter.ts';

const PAGE = 100;
/** More rows than anyone reads; a time leads further. */
const PAGES_MAX = 10;
const GATHERED_MAX = 1_000;

export function useRuns(search: Search) {
  const { org, api } = useApi();
  const client = useQueryClient();
  const filters = useMemo(
    () => Object.fromEntries(filterNames(search).map((name) => [name, search[name] ?? ''])),
    [search],
  );
  const text = JSON.stringify(filters);
  const queryKey = useMemo(() => [org, 'runs', 'list', text], [org, text]);
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => {
      const filter = { ...filterQuery(filters, Date.now()), limit: PAGE, ...(pageParam && { cursor: pageParam }) };
      return got(api.GET('/api/runs', { params: { query: filter as object }, signal }));
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: next }, pages) => (pages.length < PAGES_MAX ? next : null),
    meta: { staleOn: [] },
  });
  const rows = useMemo(() => (query.data?.pages ?? []).flatMap(({ items }) => items as ListedRun[]), [query.data]);

  const [gathered, setGathered] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => setGathered(new Set()), [text]);
  const { refetch } = query;
  const showNew = useCallback(() => {
    setGathered(new Set());
    // Only the first page: those below are loaded again as one scrolls.
    client.setQueryData<InfiniteData<RunPage, string>>(queryKey, (list) =>
      list === undefined ? list : { pages: list.pages.slice(0, 1), pageParams: list.pageParams.slice(0, 1) },
    );
    void refetch();
  }, [client, queryKey, refetch]);

  useEvents(({ name, data }) => {
    if (name !== 'run' || query.data === undefined) return;
    const { changed_steps: _steps, question: _question, ...run } = data as ListedRun & Record<string, unknown>;
    const changed = withChangedRun(query.data, run);
    if (changed !== null) client.setQueryData(queryKey, changed);
    else if (isNewer(run, rows[0]) && isOfFilter(run, filterQuery(filters, Date.now()))) {
      if (rows.length === 0) showNew();
      else if (gathered.size < GATHERED_MAX) setGathered(new Set(gathered).add(run.run_id));
    }
  });
  return { query, rows, gathered: gathered.size, showNew };
}
