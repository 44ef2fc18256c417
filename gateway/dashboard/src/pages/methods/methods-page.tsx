// Methods: all methods of the organization, how they did in the last seven days, and who published last.
import { Button, TextInput } from '@mantine/core';
import { useInfiniteQuery, useQueries } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { got } from '../../api/client.ts';
import type { ListedMethod } from '../../api/shapes.ts';
import { useApi } from '../../api/use-api.ts';
import type { Column } from '../../design/data-row.tsx';
import { DataTable } from '../../design/data-table.tsx';
import { Empty } from '../../design/empty.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { Page } from '../../design/page.tsx';
import { Panel } from '../../design/panel.tsx';
import { useGo, useSearchState } from '../../frame/navigate.ts';
import { PageLink } from '../../frame/page-link.tsx';
import { useMay } from '../../session/viewer.tsx';
import { Time } from '../../time/time.tsx';
import classes from './methods.module.css';
import { Sparkline } from './sparkline.tsx';
import { useWeek, type Week } from './week.ts';

const PAGE = 50;

export function MethodsPage() {
  const { org, api } = useApi();
  const go = useGo();
  const mayWrite = useMay('member');
  const [search, change] = useSearchState();
  const q = search.q ?? '';
  const [typed, setTyped] = useState(q);
  const methods = useInfiniteQuery({
    queryKey: [org, 'methods', 'list', q],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: PAGE, ...(q !== '' && { q }), ...(pageParam && { cursor: pageParam }) };
      return got(api.GET('/api/methods', { params: { query }, signal }));
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    meta: { staleOn: ['method', 'build'] },
  });
  const rows = useMemo(() => methods.data?.pages.flatMap(({ items }) => items) ?? [], [methods.data]);
  const week = useWeek();
  const published = usePublications(rows);
  const columns = useMemo<Column<ListedMethod>[]>(
    () => [
      {
        id: 'name',
        header: 'Name',
        width: 'minmax(180px, 2fr)',
        cell: (method) => <HostileText text={method.display_name} max={200} />,
      },
      { id: 'status', header: 'Status', width: '150px', cell: (method) => <StatusWords method={method} /> },
      {
        id: 'week',
        header: 'Runs, 7 days',
        width: '190px',
        cell: (method) => <WeekRuns week={week.data} method={method} />,
      },
      {
        id: 'share',
        header: 'Succeeded',
        width: '100px',
        align: 'end',
        cell: (method) => shareWords(week.data, method),
      },
      {
        id: 'published',
        header: 'Last published',
        width: 'minmax(170px, 1fr)',
        cell: (method) => {
          const found = published.get(method.published_version ?? '');
          if (found === undefined) return method.published_version === null ? '–' : '';
          return (
            <>
              <Time at={found.at} as="ago" /> by <HostileText text={found.by} max={60} />
            </>
          );
        },
      },
    ],
    [week.data, published],
  );
  return (
    <Page
      title="Methods"
      action={
        mayWrite ? (
          <Button size="xs" onClick={() => go('/methods/new')}>
            New method
          </Button>
        ) : undefined
      }
    >
      <form
        className={classes.filter}
        onSubmit={(event) => {
          event.preventDefault();
          change({ q: typed.trim() || null });
        }}
      >
        <TextInput
          aria-label="Find methods by name"
          placeholder="Find by name"
          data-filter
          maxLength={200}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" size="xs">
          Find
        </Button>
      </form>
      <Panel
        query={methods}
        what="Methods"
        isEmpty={() => rows.length === 0 && !methods.hasNextPage}
        empty={
          <Empty title="No methods yet.">
            <p>A method is a file with steps. Write one, begin with an example, or record a browser.</p>
            {mayWrite && <PageLink to="/methods/new">New method</PageLink>}
          </Empty>
        }
        filters={{
          count: q === '' ? 0 : 1,
          onClear() {
            setTyped('');
            change({ q: null });
          },
        }}
      >
        {() => (
          <DataTable
            label="Methods"
            rows={rows}
            columns={columns}
            rowId={(method) => method.id}
            rowLink={(method) => ({ to: `/methods/${method.id}` })}
            phone={(method) => ({
              first: <HostileText text={method.display_name} max={200} />,
              second: (
                <>
                  <StatusWords method={method} /> · {runsWords(week.data, method)}
                </>
              ),
            })}
            onEnd={() => {
              if (methods.hasNextPage && !methods.isFetchingNextPage) void methods.fetchNextPage();
            }}
          />
        )}
      </Panel>
    </Page>
  );
}

function StatusWords({ method }: { readonly method: ListedMethod }) {
  const { status, published_version, current_version } = method;
  if (status === 'building') return <>Compiling</>;
  if (status === 'failed') return <span className={classes.wrong}>Not compiled</span>;
  if (current_version === null) return <>No source</>;
  if (published_version === null) return <>Not published</>;
  return <>{published_version === current_version ? 'Published' : 'Changes to publish'}</>;
}

function WeekRuns({ week, method }: { readonly week: Week | undefined; readonly method: ListedMethod }) {
  if (week === undefined) return null;
  return (
    <span className={classes.week}>
      <Sparkline days={week.runs(method.production_id)} label={runsWords(week, method)} />
      <span className="numbers">{runsWords(week, method)}</span>
    </span>
  );
}

function runsWords(week: Week | undefined, method: ListedMethod): string {
  if (week === undefined) return '';
  const runs = week.runs(method.production_id).reduce((sum, day) => sum + day.runs, 0);
  return `${runs.toLocaleString('en')}${week.isComplete ? '' : '+'} ${runs === 1 ? 'run' : 'runs'}`;
}

function shareWords(week: Week | undefined, method: ListedMethod): string {
  const days = week?.runs(method.production_id) ?? [];
  const succeeded = days.reduce((sum, day) => sum + day.succeeded, 0);
  const ended = succeeded + days.reduce((sum, day) => sum + day.failed, 0);
  if (ended === 0) return '–';
  // Never "100 %" with a failure among them.
  return `${Math.floor((succeeded / ended) * 1_000) / 10} %`;
}

interface Publication {
  readonly at: string | null;
  readonly by: string;
}

/** Of the methods of the list: a published version says who published it, and when. */
function usePublications(methods: readonly ListedMethod[]): ReadonlyMap<string, Publication> {
  const { org, api } = useApi();
  return useQueries({
    queries: methods
      .filter(({ published_version }) => published_version !== null)
      .map(({ id, published_version }) => ({
        queryKey: [org, 'methods', 'publication', published_version],
        queryFn: async () => {
          const params = { path: { id, version_id: published_version ?? '' } };
          const { version_id, published_at, published_by } = await got(
            api.GET('/api/methods/{id}/versions/{version_id}', { params }),
          );
          return { version_id, at: published_at, by: published_by?.name || published_by?.id || 'someone' };
        },
        staleTime: 600_000,
        meta: { staleOn: ['method' as const] },
      })),
    combine: (results) =>
      new Map(results.flatMap(({ data }) => (data === undefined ? [] : [[data.version_id, data] as const]))),
  });
}
