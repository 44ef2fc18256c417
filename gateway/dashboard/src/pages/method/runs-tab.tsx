// Runs: the newest runs of the method; Production has them all with every filter.
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { got } from '../../api/client.ts';
import { shortVersion } from '../../api/method-reads.ts';
import type { ListedRun } from '../../api/shapes.ts';
import { useApi } from '../../api/use-api.ts';
import type { Column } from '../../design/data-row.tsx';
import { DataTable } from '../../design/data-table.tsx';
import { Empty } from '../../design/empty.tsx';
import { Panel } from '../../design/panel.tsx';
import { StatusBadge } from '../../design/status-badge.tsx';
import { PageLink } from '../../frame/page-link.tsx';
import { Duration, Time } from '../../time/time.tsx';
import classes from './method.module.css';
import type { MethodTabProps } from './method-page.tsx';

const PAGE = 50;

export function RunsTab({ method }: MethodTabProps) {
  const { org, api } = useApi();
  const runs = useInfiniteQuery({
    queryKey: [org, 'runs', 'of', method.production_id],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: PAGE, method: method.production_id, ...(pageParam && { cursor: pageParam }) };
      return got(api.GET('/api/runs', { params: { query }, signal }));
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    meta: { staleOn: ['run'], everyMs: 2_000 },
  });
  const columns = useMemo<Column<ListedRun>[]>(
    () => [
      { id: 'status', header: 'Status', width: '130px', cell: (run) => <StatusBadge status={run.status} /> },
      { id: 'id', header: 'Run', width: 'minmax(120px, 1fr)', cell: (run) => `…${run.run_id.slice(-8)}` },
      { id: 'version', header: 'Version', width: '120px', cell: (run) => shortVersion(run.version_id) },
      { id: 'started', header: 'Created', width: '140px', cell: (run) => <Time at={run.timing.created_at} /> },
      {
        id: 'duration',
        header: 'Duration',
        width: '120px',
        align: 'end',
        cell: ({ timing }) => <Duration ms={timing.queued_ms + timing.running_ms + timing.waiting_ms} />,
      },
    ],
    [],
  );
  return (
    <Panel
      query={runs}
      what="Runs"
      isEmpty={({ pages }) => pages.every(({ items }) => items.length === 0)}
      empty={
        <Empty title="No runs yet. Start one:">
          <PageLink to={`/methods/${method.id}`}>Start a run</PageLink>
        </Empty>
      }
    >
      {({ pages }) => (
        <>
          <p className={classes.above}>
            <PageLink to="/" search={{ method: method.production_id }}>
              In Production, with all filters
            </PageLink>
          </p>
          <DataTable
            label="Runs"
            rows={pages.flatMap(({ items }) => items as ListedRun[])}
            columns={columns}
            rowId={(run) => run.run_id}
            rowLink={(run) => ({ to: `/runs/${run.run_id}` })}
            phone={(run) => ({
              first: (
                <>
                  <StatusBadge status={run.status} short /> …{run.run_id.slice(-8)}
                </>
              ),
              second: <Time at={run.timing.created_at} />,
            })}
            onEnd={() => {
              if (runs.hasNextPage && !runs.isFetchingNextPage) void runs.fetchNextPage();
            }}
          />
        </>
      )}
    </Panel>
  );
}
