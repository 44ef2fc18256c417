// The head line: is production well? Four figures of the last 24 hours, each with its course.
import type { ReactNode } from 'react';
import { Sparkline } from '../../design/sparkline.tsx';
import { Duration } from '../../time/time.tsx';
import { writtenDuration } from '../../time/written-time.ts';
import { allOf, runsAMinute, successShare } from './figures.ts';
import classes from './head-line.module.css';
import { useStatistics, useWarnings } from './watch.ts';

export function HeadLine() {
  const { data: day } = useStatistics({ last: '24h' });
  const { data: warnings } = useWarnings();
  const oldest = warnings?.queue.oldest_queued_at ?? null;
  const buckets = day?.buckets ?? [];
  const share = day === undefined ? null : successShare(day.totals);
  return (
    <section aria-label="The last 24 hours" className={classes.line}>
      <Figure
        label="Runs a minute"
        value={
          day === undefined ? '–' : runsAMinute(day, Date.now()).toLocaleString('en', { maximumFractionDigits: 1 })
        }
        course={buckets.map(allOf)}
      />
      <Figure
        label="Succeeded"
        value={share === null ? '–' : `${(Math.floor(share * 1_000) / 10).toLocaleString('en')} %`}
        course={buckets.map(successShare)}
      />
      <Figure
        label="Duration, half and 95 %"
        value={
          day === undefined || share === null
            ? '–'
            : `${writtenDuration(day.running_ms.p50)} · ${writtenDuration(day.running_ms.p95)}`
        }
        course={buckets.map((bucket) => (successShare(bucket) === null ? null : bucket.running_p50_ms))}
      />
      <Figure
        label="Longest in the queue"
        value={
          warnings === undefined ? '–' : oldest === null ? 'None' : <Duration ms={0} sinceMs={Date.parse(oldest)} />
        }
        course={buckets.map((bucket) => (allOf(bucket) === 0 ? null : bucket.queued_max_ms))}
      />
    </section>
  );
}

interface FigureProps {
  readonly label: string;
  readonly value: ReactNode;
  readonly course: readonly (number | null)[];
}

function Figure({ label, value, course }: FigureProps) {
  return (
    <div className={classes.figure}>
      <span className={classes.label}>{label}</span>
      <span className={classes.value}>{value}</span>
      <Sparkline values={course} />
    </div>
  );
}
