// What a panel shows of a reply: loading, empty, no match, failed, not allowed, stale, or the content. "Empty" appears
// only after a successful reply.
import { Button } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isFailure } from '../api/failure.ts';
import { Empty } from './empty.tsx';
import classes from './panel.module.css';
import { Skeleton } from './skeleton.tsx';

interface PanelProps<Data> {
  readonly query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'isFetching' | 'refetch'>;
  /** In the plural, like `Runs`: "Runs could not be loaded." */
  readonly what: string;
  readonly isEmpty?: (data: Data) => boolean;
  readonly empty?: ReactNode;
  /** Set while filters are: an empty reply then matches nothing. */
  readonly filters?: { readonly count: number; readonly onClear: () => void } | undefined;
  /** Shown to a person who may not read it; by default the server's sentence. */
  readonly notAllowed?: ReactNode;
  /** Rows of the skeleton. */
  readonly rows?: number;
  readonly children: (data: Data) => ReactNode;
}

export function Panel<Data>(props: PanelProps<Data>) {
  const { query, what, isEmpty, empty, filters, notAllowed, rows = 8, children } = props;
  const { data, error } = query;
  if (isFailure(error) && error.status === 403) {
    return <Empty title={notAllowed ?? error.message} />;
  }
  if (data === undefined) {
    return error === null ? <Skeleton rows={rows} what={what} /> : <Failed what={what} error={error} query={query} />;
  }
  const stale = error === null ? null : <Stale what={what} error={error} query={query} />;
  if (isEmpty?.(data)) {
    const noMatch = filters !== undefined && filters.count > 0;
    return (
      <>
        {stale}
        {noMatch ? <NoMatch what={what} {...filters} /> : empty}
      </>
    );
  }
  return (
    <>
      {stale}
      {children(data)}
    </>
  );
}

interface FailedProps {
  readonly what: string;
  readonly error: unknown;
  readonly query: { readonly isFetching: boolean; readonly refetch: () => unknown };
}

function Failed({ what, error, query }: FailedProps) {
  return (
    <div role="alert">
      <Empty title={`${what} could not be loaded`}>
        <p>{error instanceof Error ? error.message : 'The server cannot be reached.'}</p>
        <Button variant="default" loading={query.isFetching} onClick={() => query.refetch()}>
          Try again
        </Button>
        <RequestId error={error} />
      </Empty>
    </div>
  );
}

function Stale({ what, error, query }: FailedProps) {
  return (
    <div className={classes.stale} role="status">
      <span>
        {what} may be old: {error instanceof Error ? error.message : 'the server cannot be reached.'}
      </span>
      <Button variant="subtle" size="compact-xs" loading={query.isFetching} onClick={() => query.refetch()}>
        Try again
      </Button>
      <RequestId error={error} />
    </div>
  );
}

/** For those who look into a failure. */
export function RequestId({ error }: { readonly error: unknown }) {
  if (!isFailure(error) || error.requestId === null) return null;
  return <span className={classes.request}>Request {error.requestId}</span>;
}

function NoMatch({ what, count, onClear }: { what: string; count: number; onClear: () => void }) {
  return (
    <Empty title={`No ${what.toLowerCase()} match ${count === 1 ? 'this filter' : `these ${count} filters`}`}>
      <Button variant="default" onClick={onClear}>
        Clear filters
      </Button>
    </Empty>
  );
}
