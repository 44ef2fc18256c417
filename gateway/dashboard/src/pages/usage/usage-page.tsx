// Usage: runs, their outcome, times and answers, by day and method.
import { SegmentedControl, Select } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { got, pathOf } from '../../api/client.ts';
import { useMethodName, useMethods } from '../../api/method-names.ts';
import { useApi } from '../../api/use-api.ts';
import type { Column } from '../../design/data-row.tsx';
import { DataTable } from '../../design/data-table.tsx';
import { Empty } from '../../design/empty.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { Page } from '../../design/page.tsx';
import { Panel } from '../../design/panel.tsx';
import { useSearchState } from '../../frame/navigate.ts';
import { useNow } from '../../time/now.ts';
import { writtenDuration } from '../../time/written-time.ts';
import classes from './usage.module.css';
import { firstDay, sumUsage, type UsageBy, type UsageSum } from './usage-sums.ts';

const RANGES = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
];
const GROUPS: readonly { readonly value: UsageBy; readonly label: string }[] = [
  { value: 'day', label: 'By day' },
  { value: 'method', label: 'By method' },
  { value: 'both', label: 'Both' },
];
/** 5,000 runs each. */
const PAGES_MAX = 40;
const HOUR_MS = 3_600_000;

export function UsagePage() {
  const { org, api } = useApi();
  const [search, change] = useSearchState();
  const nameOf = useMethodName();
  const methods = useMethods();
  const days = RANGES.find(({ value }) => value === search.days)?.value ?? '30';
  const by = GROUPS.find(({ value }) => value === search.by)?.value ?? 'day';
  const from = firstDay(useNow(HOUR_MS), Number(days));
  const method = search.method;
  const usage = useInfiniteQuery({
    queryKey: [org, 'usage', { from, method }],
    queryFn: ({ pageParam, signal }) =>
      got(
        api.GET('/api/usage', {
          params: { query: { from, ...(method && { method }), ...(pageParam && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }, pages) => (pages.length < PAGES_MAX ? next_cursor : null),
    staleTime: 300_000,
  });
  const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = usage;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && !isError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isError, fetchNextPage]);
  const rows = useMemo(() => sumUsage(usage.data?.pages.flatMap(({ items }) => items) ?? [], by), [usage.data, by]);
  const isCut = usage.data?.pages.at(-1)?.next_cursor != null;
  const columns = useMemo<Column<UsageSum>[]>(() => {
    const figure = (id: string, header: string, cell: Column<UsageSum>['cell']): Column<UsageSum> => ({
      ...{ id, header, cell },
      width: 'minmax(76px, 1fr)',
      align: 'end',
    });
    return [
      ...(by === 'method'
        ? []
        : [{ id: 'day', header: 'Day (UTC)', width: '110px', cell: (each: UsageSum) => each.day }]),
      ...(by === 'day'
        ? []
        : [
            {
              id: 'method',
              header: 'Method',
              width: 'minmax(160px, 2fr)',
              cell: (each: UsageSum) => <HostileText text={nameOf(each.method ?? '')} max={120} />,
            },
          ]),
      figure('runs', 'Runs', (each) => each.runs.toLocaleString('en')),
      figure('share', 'Success', successShare),
      figure('failed', 'Failed', (each) => each.failed.toLocaleString('en')),
      figure('p50', 'Runs for', ({ running }) => written(running.p50, running.isAbout)),
      figure('p95', '95 % within', ({ running }) => written(running.p95, running.isAbout)),
      figure('queued', 'Queued, 95 %', ({ queued }) => written(queued.p95, queued.isAbout)),
      figure('answers', 'Answers', (each) => each.answers.toLocaleString('en')),
      figure('answering', 'Answered in', (each) =>
        each.answers === 0 ? '–' : written(each.answering.p50, each.answering.isAbout),
      ),
    ];
  }, [by, nameOf]);
  return (
    <Page title="Usage">
      <div className={classes.filters}>
        <SegmentedControl
          size="xs"
          aria-label="Time"
          data={RANGES}
          value={days}
          onChange={(value) => change({ days: value })}
        />
        <SegmentedControl
          size="xs"
          aria-label="Rows"
          data={[...GROUPS]}
          value={by}
          onChange={(value) => change({ by: value })}
        />
        <Select
          aria-label="Method"
          placeholder="All methods"
          clearable
          searchable
          data={
            methods.data?.map(({ production_id, display_name }) => ({ value: production_id, label: display_name })) ??
            []
          }
          value={method ?? null}
          onChange={(value) => change({ method: value })}
        />
        <a href={`${pathOf(org)}/api/usage/csv?${new URLSearchParams({ from, ...(method && { method }) })}`} download>
          Download CSV
        </a>
      </div>
      <Panel
        query={usage}
        what="Usage"
        isEmpty={() => rows.length === 0}
        filters={method === undefined ? undefined : { count: 1, onClear: () => change({ method: null }) }}
        empty={<Empty title={`No runs in the last ${days} days`} />}
      >
        {() => (
          <>
            <p className={classes.note} role="status">
              {hasNextPage
                ? 'Counting …'
                : isCut
                  ? 'Only the newest 200,000 runs are counted.'
                  : 'All runs are counted.'}{' '}
              Times with ≈ are the middle of several groups.
            </p>
            <DataTable
              label="Usage"
              rows={rows}
              columns={columns}
              rowId={({ key }) => key}
              rowLink={({ day, method: of }) => ({ to: '/', search: runsOf(day, of) })}
              phone={(each) => ({
                first: (
                  <>
                    {each.day} {each.method !== null && <HostileText text={nameOf(each.method)} max={120} />}
                  </>
                ),
                second: `${each.runs.toLocaleString('en')} runs, ${successShare(each)} succeeded`,
              })}
            />
          </>
        )}
      </Panel>
    </Page>
  );
}

function successShare({ succeeded, failed }: UsageSum): string {
  return succeeded + failed === 0 ? '–' : `${((succeeded / (succeeded + failed)) * 100).toFixed(1)} %`;
}

function written(ms: number, isAbout: boolean): string {
  return `${isAbout ? '≈ ' : ''}${writtenDuration(ms)}`;
}

/** The query of Production for the runs of a row. */
function runsOf(day: string | null, method: string | null) {
  const next = day === null ? null : new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString();
  return {
    ...(method !== null && { method }),
    ...(next !== null && { created_after: `${day}T00:00:00.000Z`, created_before: next }),
  };
}
