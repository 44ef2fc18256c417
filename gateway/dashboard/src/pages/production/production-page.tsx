// Production: is it well, what needs a hand, and all runs.
import { Button } from '@mantine/core';
import { Suspense, useEffect, useMemo, useState } from 'react';
import { isFailure } from '../../api/failure.ts';
import { useMethodName } from '../../api/method-names.ts';
import { DataTable } from '../../design/data-table.tsx';
import { Page } from '../../design/page.tsx';
import { Panel } from '../../design/panel.tsx';
import { useAction } from '../../frame/actions.ts';
import { useSearchState } from '../../frame/navigate.ts';
import { part } from '../../frame/part.ts';
import { useMay } from '../../session/viewer.tsx';
import { HeadLine } from './head-line.tsx';
import { Histogram } from './histogram.tsx';
import { runColumns, runLines } from './run-columns.tsx';
import { bulkFilter, filterCount, filterQuery, isGrouped, withoutFilters } from './run-filter.ts';
import classes from './run-list.module.css';
import { useRuns } from './use-runs.ts';
import { WarningBar } from './warning-bar.tsx';
import { useStatistics } from './watch.ts';

const NONE: ReadonlySet<string> = new Set();
/** Loaded when the first list has come: it does not wait for what changes it. */
const RunFilters = part(async () => (await import('./run-filters.tsx')).RunFilters);
const BulkBar = part(async () => (await import('./bulk-bar.tsx')).BulkBar);
const CauseList = part(async () => (await import('./cause-list.tsx')).CauseList);
const FirstVisit = part(async () => (await import('./first-visit.tsx')).FirstVisit);

export function ProductionPage() {
  const [search, change] = useSearchState();
  const { query, rows, gathered, showNew } = useRuns(search);
  const count = filterCount(search);
  const [hasCome, setCome] = useState(false);
  useEffect(() => {
    if (!query.isPending) setCome(true);
  }, [query.isPending]);
  const isFirstVisit = query.data !== undefined && rows.length === 0 && count === 0 && !query.hasNextPage;
  useAction('Show failed runs of the last hour', () => change({ status: 'failed', last: '1h' }));
  useAction(count > 0 ? 'Clear the filters' : null, () => change(withoutFilters(search)));
  return (
    <Page title="Production">
      {isFirstVisit ? (
        <Suspense>
          <FirstVisit />
        </Suspense>
      ) : (
        <>
          <HeadLine />
          <WarningBar />
          <Suspense fallback={<div className={classes.filtersPlace} />}>
            {hasCome ? <RunFilters search={search} onChange={change} /> : <div className={classes.filtersPlace} />}
          </Suspense>
          <Course search={search} onChange={change} />
          {isGrouped(search) ? (
            <Suspense>
              <CauseList
                key={JSON.stringify(search)}
                search={search}
                bulkFilter={() => bulkFilter(search, Date.now())}
                filters={{ count, onClear: () => change({ ...withoutFilters(search), group: null }) }}
              />
            </Suspense>
          ) : (
            <RunList
              {...{ search, query, rows, gathered, showNew, count }}
              onClear={() => change(withoutFilters(search))}
            />
          )}
        </>
      )}
    </Page>
  );
}

interface CourseProps {
  readonly search: ReturnType<typeof useSearchState>[0];
  readonly onChange: ReturnType<typeof useSearchState>[1];
}

/** The histogram of the list's filter; without a time, of 24 hours. */
function Course({ search, onChange }: CourseProps) {
  const filter = useMemo(() => {
    const { last, ...others } = search;
    if (last === '1h' || last === '24h' || last === '7d' || last === '30d') return { ...filterQuery(others, 0), last };
    const query = filterQuery(search, Date.now());
    // A count begins somewhere.
    return query.created_after === undefined && query.created_before !== undefined
      ? { ...query, created_after: new Date(Date.parse(query.created_before) - 86_400_000).toISOString() }
      : query;
  }, [search]);
  const { data, error } = useStatistics(filter);
  if (data === undefined || isFailure(error, 'invalid_request')) return null;
  return (
    <Histogram
      statistics={data}
      onSelect={(from, to) => onChange({ last: null, created_after: from, created_before: to })}
    />
  );
}

interface RunListProps extends ReturnType<typeof useRuns> {
  readonly search: ReturnType<typeof useSearchState>[0];
  readonly count: number;
  readonly onClear: () => void;
}

function RunList({ search, query, rows, gathered, showNew, count, onClear }: RunListProps) {
  const nameOf = useMethodName();
  const columns = useMemo(() => runColumns(nameOf), [nameOf]);
  const mayChange = useMay('member');
  const [selected, setSelected] = useState<ReadonlySet<string>>(NONE);
  const filterText = JSON.stringify(search);
  useEffect(() => setSelected(NONE), [filterText]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  return (
    <>
      {gathered > 0 && (
        <div className={classes.gathered}>
          <Button
            radius="xl"
            onClick={() => {
              window.scrollTo({ top: 0 });
              showNew();
            }}
          >
            {gathered === 1 ? '1 new run' : `${gathered.toLocaleString('en')} new runs`}
          </Button>
        </div>
      )}
      <Panel
        query={query}
        what="Runs"
        rows={12}
        isEmpty={() => rows.length === 0 && !hasNextPage}
        filters={{ count, onClear }}
      >
        {({ pages }) => (
          <DataTable
            label="Runs"
            rows={rows}
            columns={columns}
            rowId={(run) => run.run_id}
            rowLink={(run) => ({ to: `/runs/${run.run_id}` })}
            phone={(run) => runLines(run, nameOf)}
            selection={mayChange ? { ids: selected, onChange: setSelected } : undefined}
            onEnd={() => {
              if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
            }}
            foot={
              <div className={classes.foot} role="status">
                {isFetchingNextPage
                  ? 'More runs are being loaded.'
                  : hasNextPage
                    ? ''
                    : pages.at(-1)?.next_cursor
                      ? 'These are the newest. Choose a time to see earlier ones.'
                      : `All ${rows.length.toLocaleString('en')} runs are shown.`}
              </div>
            }
          />
        )}
      </Panel>
      {selected.size > 0 && (
        <Suspense>
          <BulkBar ids={selected} filter={() => bulkFilter(search, Date.now())} onClear={() => setSelected(NONE)} />
        </Suspense>
      )}
    </>
  );
}
