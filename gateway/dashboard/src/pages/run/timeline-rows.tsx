// The rows of the timeline: a step each, with bars over a common axis. Only those in view are drawn. In the list `j` and
// `k` move, and left and right close and open what has rows below it.
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { HostileText } from '../../design/hostile-text.tsx';
import { StatusIcon } from '../../design/status-badge.tsx';
import { useKeyHelp } from '../../keyboard/help.tsx';
import { isSingleKey } from '../../keyboard/single-keys.ts';
import { useNow } from '../../time/now.ts';
import { writtenDuration } from '../../time/written-time.ts';
import { barsOf, busySpans } from './bars.ts';
import { isFinished } from './run-actions.tsx';
import type { RunTabProps } from './run-page.tsx';
import type { Step } from './run-reads.ts';
import type { StepRow } from './step-tree.ts';
import { type TimeAxis, timeAxis } from './time-axis.ts';
import classes from './timeline.module.css';

const ROW_PX = 28;
const HELP = {
  title: 'In the timeline',
  keys: [
    { keys: 'j k', does: 'Move down and up' },
    { keys: '← →', does: 'Close and open rows' },
    { keys: 'Enter', does: 'Go to the step' },
  ],
};

interface TimelineRowsProps extends RunTabProps {
  readonly rows: readonly StepRow<Step>[];
  readonly selected: string | null;
  readonly isScaled: boolean;
  readonly onSelect: (step: string) => void;
  readonly onToggle: (row: StepRow<Step>) => void;
  readonly onEnd: () => void;
}

export function TimelineRows({ run, rows, selected, isScaled, onSelect, onToggle, onEnd }: TimelineRowsProps) {
  useKeyHelp(HELP);
  const scroller = useRef<HTMLDivElement>(null);
  const bars = useRef<HTMLDivElement>(null);
  const [widthPx, setWidth] = useState(400);
  const isLive = !isFinished(run);
  const nowMs = useNow(isLive ? 1_000 : 3_600_000);
  const [active, setActive] = useState(-1);
  useEffect(() => {
    const { current } = bars;
    if (current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(60, entry?.contentRect.width ?? 400)));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  const fromMs = Date.parse(run.timing.created_at);
  const toMs = run.timing.finished_at === null ? nowMs : Date.parse(run.timing.finished_at);
  const axis = useMemo(() => {
    const busy = busySpans(
      rows.map(({ step }) => step),
      { fromMs, toMs, isQueued: run.status === 'queued' },
    );
    return timeAxis({ fromMs, toMs, busy, widthPx, isScaled });
  }, [rows, fromMs, toMs, widthPx, isScaled, run.status]);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 16,
    getItemKey: (at) => rows[at]?.step.name ?? at,
  });
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - 16) onEnd();
  }, [last, rows.length, onEnd]);
  const moveTo = (at: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, at));
    setActive(next);
    virtualizer.scrollToIndex(next, { align: 'auto' });
    const row = rows[next];
    if (row !== undefined && selected !== null) onSelect(row.step.name);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    if (event.key.length === 1 && !isSingleKey(event)) return;
    const row = rows[active];
    if (event.key === 'j' || event.key === 'ArrowDown') moveTo(active + 1);
    else if (event.key === 'k' || event.key === 'ArrowUp') moveTo(Math.max(0, active - 1));
    else if (event.key === 'Home') moveTo(0);
    else if (event.key === 'End') moveTo(rows.length - 1);
    else if (event.key === 'Enter' && row !== undefined) onSelect(row.step.name);
    else if (event.key === 'ArrowRight' && row?.isParent && !row.isOpen) onToggle(row);
    else if (event.key === 'ArrowLeft' && row?.isParent && row.isOpen) onToggle(row);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <Ruler axis={axis} rows={rows} nowMs={isLive ? nowMs : null} measure={bars} />
      <div
        ref={scroller}
        className={classes.scroller}
        role="tree"
        aria-label="Steps of the run"
        tabIndex={0}
        data-list
        aria-activedescendant={active < 0 ? undefined : `step-${active}`}
        onKeyDown={onKeyDown}
        onFocus={(event) => {
          if (event.target === event.currentTarget && active < 0) {
            setActive(
              Math.max(
                0,
                rows.findIndex(({ step }) => step.name === selected),
              ),
            );
          }
        }}
      >
        <div className={classes.rows} style={{ height: virtualizer.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index] as StepRow<Step>;
            return (
              <div
                key={item.key}
                id={`step-${item.index}`}
                role="treeitem"
                aria-level={row.depth + 1}
                aria-selected={row.step.name === selected}
                aria-expanded={row.isParent ? row.isOpen : undefined}
                className={classes.row}
                data-active={item.index === active}
                style={{ height: item.size, transform: `translateY(${item.start}px)` }}
                onClick={() => {
                  setActive(item.index);
                  onSelect(row.step.name);
                }}
              >
                <Name row={row} onToggle={onToggle} />
                <Bars row={row} axis={axis} nowMs={nowMs} />
                <Took step={row.step} />
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}

function Name({ row, onToggle }: { readonly row: StepRow<Step>; readonly onToggle: TimelineRowsProps['onToggle'] }) {
  const { step, label, depth, isParent, isOpen } = row;
  return (
    <span className={classes.name} style={{ paddingInlineStart: 4 + Math.min(depth, 12) * 14 }}>
      {isParent ? (
        <span
          className={classes.caret}
          data-open={isOpen}
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            onToggle(row);
          }}
        >
          ›
        </span>
      ) : (
        <span className={classes.caret} />
      )}
      <StatusIcon status={step.status} />
      <span className="unseen">{step.status}</span>
      <span className={classes.label}>
        <HostileText text={label} max={120} />
      </span>
      <span className={classes.kind}>{step.kind}</span>
      {step.attempt > 1 && <span className={classes.kind}>attempt {step.attempt}</span>}
    </span>
  );
}

function Bars({
  row: { step },
  axis,
  nowMs,
}: {
  readonly row: StepRow<Step>;
  readonly axis: TimeAxis;
  readonly nowMs: number;
}) {
  return (
    <span className={classes.bars}>
      {barsOf(step, nowMs).map(({ fromMs, toMs, fill }) => {
        const left = axis.px(fromMs);
        return (
          <span
            key={`${fill} ${fromMs}`}
            className={classes.bar}
            data-fill={fill}
            data-status={step.status}
            style={{ left, width: Math.max(3, axis.px(toMs) - left) }}
          />
        );
      })}
      {step.rounds !== undefined && <span className={classes.rounds}>{roundsText(step.rounds)}</span>}
    </span>
  );
}

function Took({ step }: { readonly step: Step }) {
  const failedChecks = step.checks.filter(({ status }) => status !== 'passed').length;
  return (
    <span className={classes.took}>
      {step.timing.started_at !== null && writtenDuration(step.timing.running_ms + step.timing.waiting_ms)}
      {failedChecks > 0 && ` · ${failedChecks === 1 ? '1 check' : `${failedChecks} checks`} not passed`}
    </span>
  );
}

function roundsText(rounds: Readonly<Record<string, number>>): string {
  return Object.entries(rounds)
    .map(([status, count]) => `${count.toLocaleString('en')} ${status === 'succeeded' ? 'ok' : status}`)
    .join(', ');
}

interface RulerProps {
  readonly axis: TimeAxis;
  readonly rows: readonly StepRow<Step>[];
  /** Null: the run is over. */
  readonly nowMs: number | null;
  readonly measure: { current: HTMLDivElement | null };
}

const MINIMAP_MARKS_MAX = 1_500;

/** The axis with its ticks and breaks, above it all steps as marks of a pixel or more. */
function Ruler({ axis, rows, nowMs, measure }: RulerProps) {
  const marks = useMemo(() => {
    const each = Math.max(1, Math.ceil(rows.length / MINIMAP_MARKS_MAX));
    return rows
      .filter(({ step }, at) => step.timing.started_at !== null && (at % each === 0 || step.status === 'failed'))
      .map(({ step }) => ({ px: axis.px(Date.parse(step.timing.started_at ?? '')), status: step.status }));
  }, [rows, axis]);
  return (
    <div className={classes.ruler}>
      <span className={classes.rulerName} />
      <div className={classes.axis} ref={measure} aria-hidden="true">
        <svg className={classes.minimap} width="100%" height="16" aria-hidden="true">
          {marks.map(({ px, status }, at) => (
            <rect
              key={at}
              x={px}
              y={status === 'failed' ? 2 : 6}
              width="2"
              height={status === 'failed' ? 12 : 4}
              data-status={status}
            />
          ))}
          {nowMs !== null && <rect x={axis.px(nowMs) - 1} y="0" width="1" height="16" className={classes.now} />}
        </svg>
        {axis.ticks.map(({ px, sinceMs }) => (
          <span key={sinceMs} className={classes.tick} style={{ left: px }}>
            {sinceMs === 0 ? '0' : `+${writtenDuration(sinceMs)}`}
          </span>
        ))}
        {axis.breaks.map((gap) => (
          <span
            key={gap.fromMs}
            className={classes.break}
            style={{ left: gap.px }}
            title={`${writtenDuration(gap.toMs - gap.fromMs)} in which nothing ran`}
          >
            {writtenDuration(gap.toMs - gap.fromMs)}
          </span>
        ))}
      </div>
    </div>
  );
}
