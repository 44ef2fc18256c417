// The status of a run or a step: one icon, one word and one colour each, the same everywhere.
import type { ReactNode } from 'react';
import type { RunStatus } from '../api/shapes.ts';
import classes from './status-badge.module.css';

export type ShownStatus = RunStatus | 'asleep' | 'pending' | 'skipped';

const WORDS: Readonly<Record<ShownStatus, string>> = {
  queued: 'Queued',
  running: 'Running',
  waiting: 'Waiting',
  succeeded: 'Succeeded',
  failed: 'Failed',
  cancelled: 'Cancelled',
  asleep: 'Asleep',
  pending: 'Pending',
  skipped: 'Skipped',
};

const MARKS: Readonly<Record<ShownStatus, ReactNode>> = {
  queued: (
    <circle cx="8" cy="8" r="5.75" fill="none" stroke="currentColor" strokeWidth="1.5" strokeDasharray="1.8 1.81" />
  ),
  running: (
    <>
      <circle cx="8" cy="8" r="5.75" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <path d="M8 4.2a3.8 3.8 0 0 1 0 7.6z" fill="currentColor" />
    </>
  ),
  waiting: (
    <path
      d="M3 2.75h10c.7 0 1.25.55 1.25 1.25v6c0 .7-.55 1.25-1.25 1.25H8L4.75 14v-2.75H3c-.7 0-1.25-.55-1.25-1.25V4c0-.7.55-1.25 1.25-1.25z"
      fill="currentColor"
    />
  ),
  succeeded: (
    <>
      <circle cx="8" cy="8" r="6.5" fill="currentColor" />
      <path
        d="M5 8.2l2.1 2.1L11 6.2"
        fill="none"
        stroke="var(--back)"
        strokeWidth="1.6"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </>
  ),
  failed: (
    <>
      <path d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z" fill="currentColor" />
      <path d="M5.7 5.7l4.6 4.6M10.3 5.7l-4.6 4.6" stroke="var(--back)" strokeWidth="1.6" strokeLinecap="round" />
    </>
  ),
  cancelled: (
    <>
      <circle cx="8" cy="8" r="5.75" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <path d="M4.2 11.8l7.6-7.6" stroke="currentColor" strokeWidth="1.5" />
    </>
  ),
  asleep: <path d="M13.3 9.9A5.8 5.8 0 1 1 6.1 2.7a4.6 4.6 0 0 0 7.2 7.2z" fill="currentColor" />,
  pending: <circle cx="8" cy="8" r="5.75" fill="none" stroke="currentColor" strokeWidth="1.5" />,
  skipped: (
    <path
      d="M4 4l4 4-4 4M8.5 4l4 4-4 4"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  ),
};

export function StatusIcon({ status, size = 14 }: { readonly status: ShownStatus; readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" className={classes[status]} aria-hidden="true">
      {MARKS[status]}
    </svg>
  );
}

/** `short`: the icon only, its word for screen readers and on hover. */
export function StatusBadge({ status, short = false }: { readonly status: ShownStatus; readonly short?: boolean }) {
  const word = WORDS[status];
  return (
    <span className={`${classes.badge} ${classes[status]}`} title={short ? word : undefined}>
      <StatusIcon status={status} />
      <span className={short ? 'unseen' : undefined}>{word}</span>
    </span>
  );
}

export function statusWord(status: ShownStatus): string {
  return WORDS[status];
}
