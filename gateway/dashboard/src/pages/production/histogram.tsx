// Runs over time above the list, by status. Dragging over it selects a time; the fields of the filter do the same.
import { type PointerEvent, useRef, useState } from 'react';
import type { RunStatus } from '../../api/shapes.ts';
import { statusWord } from '../../design/status-badge.tsx';
import { shortTime, zoneWord } from '../../time/written-time.ts';
import { useZone } from '../../time/zone.tsx';
import { allOf } from './figures.ts';
import classes from './histogram.module.css';
import type { Statistics } from './watch.ts';

interface HistogramProps {
  readonly statistics: Statistics;
  /** RFC 3339. */
  readonly onSelect: (from: string, to: string) => void;
}

const HEIGHT = 56;
/** The lowest first. */
const ORDER: readonly RunStatus[] = ['succeeded', 'cancelled', 'failed', 'waiting', 'running', 'queued'];

export function Histogram({ statistics, onSelect }: HistogramProps) {
  const { buckets, bucket_ms: bucketMs } = statistics;
  const zone = useZone();
  const area = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number } | null>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const max = Math.max(...buckets.map(allOf), 1);
  const nowMs = Date.now();
  const fromMs = Date.parse(statistics.from);
  const atMs = (index: number) => fromMs + index * bucketMs;
  const bucketAt = ({ clientX }: PointerEvent) => {
    const box = area.current?.getBoundingClientRect();
    if (box === undefined || box.width === 0) return 0;
    return Math.max(0, Math.min(buckets.length - 1, Math.floor(((clientX - box.left) / box.width) * buckets.length)));
  };
  const range = drag === null ? null : { from: Math.min(drag.from, drag.to), to: Math.max(drag.from, drag.to) + 1 };
  const shown = hovered === null ? undefined : buckets[hovered];
  return (
    <figure className={classes.figure}>
      <figcaption className={classes.caption} aria-live="off">
        {range !== null ? (
          `${shortTime(atMs(range.from), zone, nowMs)} – ${shortTime(atMs(range.to), zone, nowMs)}`
        ) : shown !== undefined && hovered !== null ? (
          <>
            {shortTime(atMs(hovered), zone, nowMs)}:{' '}
            {ORDER.filter((status) => shown[status] > 0)
              .map((status) => `${shown[status].toLocaleString('en')} ${statusWord(status).toLowerCase()}`)
              .join(', ') || 'no runs'}
          </>
        ) : (
          `${allOf(statistics.totals).toLocaleString('en')} runs${statistics.complete ? '' : ' and more'}`
        )}
      </figcaption>
      <div
        ref={area}
        className={classes.area}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ from: bucketAt(event), to: bucketAt(event) });
        }}
        onPointerMove={(event) => {
          setHovered(bucketAt(event));
          if (drag !== null) setDrag({ ...drag, to: bucketAt(event) });
        }}
        onPointerLeave={() => setHovered(null)}
        onPointerCancel={() => setDrag(null)}
        onPointerUp={() => {
          if (range !== null) {
            onSelect(new Date(atMs(range.from)).toISOString(), new Date(atMs(range.to)).toISOString());
          }
          setDrag(null);
        }}
      >
        <svg
          viewBox={`0 0 ${buckets.length} ${HEIGHT}`}
          preserveAspectRatio="none"
          width="100%"
          height={HEIGHT}
          role="img"
          aria-label={`Runs over time: ${ORDER.map((status) => `${statistics.totals[status]} ${statusWord(status).toLowerCase()}`).join(', ')}`}
        >
          {buckets.map((bucket, at) => {
            let y = HEIGHT;
            return ORDER.map((status) => {
              const count = bucket[status];
              if (count === 0) return null;
              const height = Math.max(1.5, (count / max) * HEIGHT);
              y -= height;
              return (
                <rect
                  key={`${bucket.at} ${status}`}
                  className={classes[status]}
                  x={at + 0.1}
                  y={y}
                  width={0.8}
                  height={height}
                />
              );
            });
          })}
          {range !== null && (
            <rect className={classes.chosen} x={range.from} y={0} width={range.to - range.from} height={HEIGHT} />
          )}
        </svg>
      </div>
      <div className={classes.axis}>
        <span>{shortTime(fromMs, zone, nowMs)}</span>
        <span>
          {shortTime(atMs(buckets.length), zone, nowMs)} {zoneWord(nowMs, zone)}
        </span>
      </div>
    </figure>
  );
}
