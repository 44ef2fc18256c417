// The columns of the list of runs, and a run as two lines on a phone.
import type { ListedRun } from '../../api/shapes.ts';
import type { Column } from '../../design/data-row.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { type ShownStatus, StatusBadge } from '../../design/status-badge.tsx';
import { PageLink } from '../../frame/page-link.tsx';
import { Duration, Time } from '../../time/time.tsx';
import classes from './run-list.module.css';

const CHIPS_MAX = 3;
const CHIP_CHARACTERS = 40;

export function runColumns(nameOf: (method: string) => string): Column<ListedRun>[] {
  return [
    { id: 'status', header: 'Status', width: '116px', cell: (run) => <StatusBadge status={shownStatus(run)} /> },
    {
      id: 'method',
      header: 'Method and version',
      width: 'minmax(180px, 1.4fr)',
      cell: (run) => (
        <>
          <HostileText text={nameOf(run.method)} max={100} />{' '}
          <span className={classes.quiet}>…{run.version_id.slice(-6)}</span>
        </>
      ),
    },
    {
      id: 'run',
      header: 'Run',
      width: '110px',
      cell: (run) => <span className={classes.id}>…{run.run_id.slice(-8)}</span>,
    },
    { id: 'started', header: 'Created', width: '126px', cell: (run) => <Time at={run.timing.created_at} /> },
    { id: 'duration', header: 'Duration', width: '172px', cell: (run) => <RunTime run={run} /> },
    {
      id: 'more',
      header: 'Error, metadata',
      width: 'minmax(160px, 2fr)',
      cell: (run) => <More run={run} />,
    },
  ];
}

export function runLines(run: ListedRun, nameOf: (method: string) => string) {
  return {
    first: (
      <span className={classes.first}>
        <StatusBadge status={shownStatus(run)} short /> <HostileText text={nameOf(run.method)} max={60} />
      </span>
    ),
    second: (
      <>
        <Time at={run.timing.created_at} /> · <TotalTime run={run} />
        {run.error === undefined ? null : <> · {errorLine(run)}</>}
      </>
    ),
  };
}

function shownStatus(run: ListedRun): ShownStatus {
  return run.queued_reason === 'sleeping' ? 'asleep' : run.status;
}

function RunTime({ run }: { readonly run: ListedRun }) {
  const { queued_ms: queued, running_ms: running, waiting_ms: waiting } = run.timing;
  const all = queued + running + waiting || 1;
  return (
    <span className={classes.times}>
      <span className={classes.time}>
        <TotalTime run={run} />
      </span>
      <span className={classes.bar} title="Queued, running, waiting" aria-hidden="true">
        <span className={classes.queued} style={{ flexGrow: queued / all }} />
        <span className={classes.running} style={{ flexGrow: running / all }} />
        <span className={classes.waiting} style={{ flexGrow: waiting / all }} />
      </span>
      {run.attempts > 1 && <span className={classes.attempts}>×{run.attempts}</span>}
    </span>
  );
}

function TotalTime({ run }: { readonly run: ListedRun }) {
  const createdMs = Date.parse(run.timing.created_at);
  const finished = run.timing.finished_at;
  return finished === null ? (
    <Duration ms={0} sinceMs={createdMs} />
  ) : (
    <Duration ms={Date.parse(finished) - createdMs} />
  );
}

function More({ run }: { readonly run: ListedRun }) {
  const pairs = Object.entries(run.metadata);
  return (
    <span className={classes.more}>
      {run.error !== undefined && <span className={classes.error}>{errorLine(run)}</span>}
      {pairs.slice(0, CHIPS_MAX).map(([key, value]) => (
        <PageLink key={key} to="/" search={{ [`metadata.${key}`]: value }} className={classes.chip}>
          <HostileText text={`${key}=${value}`} max={CHIP_CHARACTERS} />
        </PageLink>
      ))}
      {pairs.length > CHIPS_MAX && <span className={classes.quiet}>+{pairs.length - CHIPS_MAX}</span>}
    </span>
  );
}

function errorLine({ error }: ListedRun) {
  const { code = '', step, message } = (error ?? {}) as { code?: string; step?: string; message?: string };
  return <HostileText text={[step, message ?? code].filter(Boolean).join(': ')} max={300} />;
}
