// Colours, sizes, statuses, tables, forms and the states of a panel, as every page uses them.
import { Button, Checkbox, Select, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { Failure } from '../../api/failure.ts';
import { Command } from '../../design/command.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import type { Column } from '../../design/data-row.tsx';
import { DataTable } from '../../design/data-table.tsx';
import { Empty } from '../../design/empty.tsx';
import { HostileText } from '../../design/hostile-text.tsx';
import { Page } from '../../design/page.tsx';
import { Panel } from '../../design/panel.tsx';
import { type ShownStatus, StatusBadge, StatusIcon, statusWord } from '../../design/status-badge.tsx';
import { Duration, Time } from '../../time/time.tsx';
import classes from './design.module.css';

const COLOURS = ['back', 'soft', 'raised', 'pressed', 'line', 'line-strong', 'text', 'quiet', 'accent', 'accent-soft'];
const SIZES = [
  [12, 16, 'Notes and labels'],
  [13, 20, 'Tables'],
  [14, 20, 'Texts'],
  [16, 24, 'Forms of answers'],
  [20, 28, 'Titles'],
  [28, 32, 'Figures'],
] as const;
const SPACES = [4, 8, 12, 16, 24, 32, 48];
const STATUSES: readonly ShownStatus[] = [
  ...(['queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const),
  'asleep',
];
/** Of steps: their colours are for marks, not for words. */
const MARKS = ['pending', 'skipped'] as const;
const HOSTILE = '<b>markup</b> \u202eturned\u202c \u0007bell \u200bjoiner';
const COLUMNS: Column<ShownStatus>[] = [
  { id: 'status', header: 'Status', width: '140px', cell: (status) => <StatusBadge status={status} /> },
  { id: 'text', header: 'Text of anyone', width: 'minmax(160px, 1fr)', cell: () => <HostileText text={HOSTILE} /> },
  { id: 'time', header: 'Time', width: '140px', cell: () => <Time at="2026-11-26T12:00:00Z" /> },
  { id: 'took', header: 'Duration', width: '120px', align: 'end', cell: () => <Duration ms={83_000} /> },
];
const settled = { data: [] as string[], error: null, isFetching: false, refetch: async () => ({}) as never };
const failed = {
  ...settled,
  error: new Failure('unavailable', 'A part of the server is down.', 503, 'req_1'),
};
const refused = { ...settled, error: new Failure('forbidden', 'Only admins make keys.', 403, 'req_2') };

export function DesignPage() {
  return (
    <Page title="Design">
      <Part title="Colours">
        <div className={classes.row}>
          {COLOURS.map((name) => (
            <figure key={name} className={classes.colour}>
              <span className={classes.swatch} style={{ background: `var(--${name})` }} />
              <figcaption>{name}</figcaption>
            </figure>
          ))}
        </div>
      </Part>
      <Part title="Sizes">
        {SIZES.map(([size, line, use]) => (
          <p key={size} style={{ fontSize: size, lineHeight: `${line}px`, margin: 0 }}>
            {use}: {size}/{line}
          </p>
        ))}
        <div className={classes.row}>
          {SPACES.map((space) => (
            <span key={space} className={classes.space} style={{ width: space }} title={`${space} px`} />
          ))}
        </div>
      </Part>
      <Part title="Statuses">
        <div className={classes.row}>
          {STATUSES.map((status) => (
            <StatusBadge key={status} status={status} />
          ))}
          {MARKS.map((status) => (
            <span key={status}>
              <StatusIcon status={status} /> {statusWord(status)}
            </span>
          ))}
        </div>
      </Part>
      <Part title="Table">
        <DataTable
          label="Statuses"
          rows={STATUSES}
          columns={COLUMNS}
          rowId={(status) => status}
          phone={(status) => ({ first: <StatusBadge status={status} />, second: <HostileText text={HOSTILE} /> })}
        />
      </Part>
      <Part title="Form">
        <div className={classes.form}>
          <TextInput label="Name" description="A sentence that helps." placeholder="nightly jobs" />
          <TextInput label="Amount" error="A whole number from 1 to 100." defaultValue="250" />
          <Select label="Method" data={['refund', 'greet']} placeholder="All methods" />
          <Checkbox label="Approve" />
          <div className={classes.row}>
            <Button>Save</Button>
            <Button variant="default">Back</Button>
            <Button variant="subtle">Clear the filter</Button>
            <Button loading>Save</Button>
            <CopyButton text="run_1" what="the run’s id" />
          </div>
          <Command text="npx methods worker --method hello.method" />
        </div>
      </Part>
      <Part title="States of a panel">
        <State name="Loading" query={{ ...settled, data: undefined, isFetching: true }} />
        <State name="Empty" query={settled} />
        <State name="No match" query={settled} filters={{ count: 2, onClear: () => {} }} />
        <State name="Failed" query={{ ...failed, data: undefined }} />
        <State name="Not allowed" query={refused} />
        <State name="Stale" query={{ ...failed, data: ['What was there before.'] }} />
      </Part>
    </Page>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className={classes.part}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

interface StateProps {
  readonly name: string;
  readonly query: Parameters<typeof Panel<string[]>>[0]['query'];
  readonly filters?: { readonly count: number; readonly onClear: () => void };
}

function State({ name, query, filters }: StateProps) {
  return (
    <>
      <h3>{name}</h3>
      <Panel
        query={query}
        what="Runs"
        rows={2}
        isEmpty={(rows) => rows.length === 0}
        empty={<Empty title="No runs yet." />}
        filters={filters}
      >
        {(rows) => <p>{rows.join(' ')}</p>}
      </Panel>
    </>
  );
}
