// The failed runs of the filter, grouped by cause. A group is changed like the runs that are selected in the list.
import { Suspense, useMemo, useState } from 'react';
import type { Search } from '../../address/search.ts';
import { useMethodName } from '../../api/method-names.ts';
import type { Column } from '../../design/data-row.tsx';
import { DataTable } from '../../design/data-table.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { Panel } from '../../design/panel.tsx';
import { useMay } from '../../session/viewer.tsx';
import { Time } from '../../time/time.tsx';
import type { BulkFilter } from '../bulk/bulk.ts';
import { BulkBar } from './bulk-bar.tsx';
import type { Cause } from './causes.ts';
import classes from './run-list.module.css';
import { useCauses } from './use-causes.ts';

const NONE: ReadonlySet<string> = new Set();

interface CauseListProps {
  readonly search: Search;
  /** Of the failed runs that match. */
  readonly bulkFilter: () => BulkFilter;
  readonly filters: { readonly count: number; readonly onClear: () => void };
}

export function CauseList({ search, bulkFilter, filters }: CauseListProps) {
  const query = useCauses(search);
  const nameOf = useMethodName();
  const columns = useMemo(() => causeColumns(nameOf), [nameOf]);
  const mayChange = useMay('member');
  const [selected, setSelected] = useState<ReadonlySet<string>>(NONE);
  const runIds = useMemo(() => {
    const chosen = (query.data?.causes ?? []).filter(({ id }) => selected.has(id));
    return new Set(chosen.flatMap((cause) => cause.runIds));
  }, [query.data, selected]);
  return (
    <>
      <Panel query={query} what="Failed runs" isEmpty={({ causes }) => causes.length === 0} filters={filters}>
        {({ causes, runs, isAll }) => (
          <DataTable
            label="Causes"
            rows={causes}
            columns={columns}
            rowId={({ id }) => id}
            rowLink={({ newest }) => ({ to: `/runs/${newest.run_id}` })}
            phone={(cause) => causeLines(cause, nameOf)}
            selection={mayChange ? { ids: selected, onChange: setSelected } : undefined}
            foot={
              <div className={classes.foot} role="status">
                {isAll
                  ? `All ${runsInNumbers(runs)} that match are grouped.`
                  : `The newest ${runsInNumbers(runs)} are grouped.`}
              </div>
            }
          />
        )}
      </Panel>
      {runIds.size > 0 && (
        <Suspense>
          <BulkBar ids={runIds} filter={bulkFilter} onClear={() => setSelected(NONE)} />
        </Suspense>
      )}
    </>
  );
}

function causeColumns(nameOf: (method: string) => string): Column<Cause>[] {
  return [
    { id: 'runs', header: 'Runs', width: '72px', cell: ({ runIds }) => runIds.length.toLocaleString('en') },
    {
      id: 'method',
      header: 'Method',
      width: 'minmax(140px, 1fr)',
      cell: ({ method }) => <HostileText text={nameOf(method)} max={100} />,
    },
    { id: 'step', header: 'Step', width: '140px', cell: ({ step }) => <HostileText text={step} max={100} /> },
    { id: 'code', header: 'Code', width: '150px', cell: ({ code }) => <HostileText text={code} max={100} /> },
    {
      id: 'message',
      header: 'Message of the newest',
      width: 'minmax(200px, 3fr)',
      cell: ({ message }) => <HostileText text={message} max={300} />,
    },
    { id: 'at', header: 'Newest', width: '126px', cell: ({ newest }) => <Time at={newest.timing.created_at} /> },
  ];
}

function causeLines(cause: Cause, nameOf: (method: string) => string) {
  const what = [cause.step, cause.message || cause.code].filter(Boolean).join(': ');
  return {
    first: (
      <>
        {runsInNumbers(cause.runIds.length)} of <HostileText text={nameOf(cause.method)} max={60} />
      </>
    ),
    second: (
      <>
        <Time at={cause.newest.timing.created_at} /> · <HostileText text={what} max={200} />
      </>
    ),
  };
}

function runsInNumbers(count: number): string {
  return count === 1 ? '1 failed run' : `${count.toLocaleString('en')} failed runs`;
}
