// All runs of the organization, newest first.
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { got } from '../../api/client.ts';
import { useMethodName } from '../../api/method-names.ts';
import type { ListedRun, RunStatus } from '../../api/shapes.ts';
import { useApi } from '../../api/use-api.ts';
import { type Column, DataTable } from '../../design/data-table.tsx';
import { Empty } from '../../design/empty.tsx';
import { Page } from '../../design/page.tsx';
import { Panel } from '../../design/panel.tsx';
import { StatusBadge } from '../../design/status-badge.tsx';
import { useSearchState } from '../../frame/navigate.ts';
import { Duration, Time } from '../../time/time.tsx';

const PAGE = 100;

export function ProductionPage() {
  const { org, api } = useApi();
  const [search, change] = useSearchState();
  const status = search.status as RunStatus | undefined;
  const nameOf = useMethodName();
  const runs = useInfiniteQuery({
    queryKey: [org, 'runs', 'list', { status }],
    queryFn: ({ pageParam, signal }) =>
      got(
        api.GET('/api/runs', {
          params: { query: { limit: PAGE, ...(status && { status }), ...(pageParam && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    meta: { staleOn: ['run'], everyMs: 2_000 },
  });
  const columns = useMemo<Column<ListedRun>[]>(
    () => [
      { id: 'status', header: 'Status', width: '130px', cell: (run) => <StatusBadge status={run.status} /> },
      { id: 'method', header: 'Method', width: 'minmax(160px, 2fr)', cell: (run) => nameOf(run.method) },
      { id: 'id', header: 'Run', width: '150px', cell: (run) => `…${run.run_id.slice(-8)}` },
      { id: 'started', header: 'Created', width: '130px', cell: (run) => <Time at={run.timing.created_at} /> },
      {
        id: 'duration',
        header: 'Duration',
        width: '120px',
        align: 'end',
        cell: (run) => <Duration ms={run.timing.queued_ms + run.timing.running_ms + run.timing.waiting_ms} />,
      },
    ],
    [nameOf],
  );
  return (
    <Page title="Production">
      <Panel
        query={runs}
        what="Runs"
        isEmpty={({ pages }) => pages.every(({ items }) => items.length === 0)}
        empty={<Empty title="No runs yet" />}
        filters={status && { count: 1, onClear: () => change({ status: null }) }}
      >
        {({ pages }) => (
          <DataTable
            label="Runs"
            rows={pages.flatMap(({ items }) => items as ListedRun[])}
            columns={columns}
            rowId={(run) => run.run_id}
            rowLink={(run) => ({ to: `/runs/${run.run_id}` })}
            phone={(run) => ({
              first: (
                <>
                  <StatusBadge status={run.status} short /> {nameOf(run.method)}
                </>
              ),
              second: <Time at={run.timing.created_at} />,
            })}
            onEnd={() => {
              if (runs.hasNextPage && !runs.isFetchingNextPage) void runs.fetchNextPage();
            }}
          />
        )}
      </Panel>
    </Page>
  );
}
