// The bars of a step on the timeline, and when anything was queued or running. Pure.
import type { Span } from './time-axis.ts';

export type Fill = 'running' | 'waiting' | 'asleep';

export interface Bar extends Span {
  readonly fill: Fill;
}

interface TimedStep {
  readonly kind: string;
  readonly status: string;
  readonly timing: {
    readonly started_at: string | null;
    readonly finished_at: string | null;
    readonly running_ms: number;
    readonly waiting_ms: number;
  };
}

/** A step that has waited is drawn as running first: a record has the sums only. */
export function barsOf({ kind, status, timing }: TimedStep, nowMs: number): Bar[] {
  if (timing.started_at === null) return [];
  const fromMs = Date.parse(timing.started_at);
  const isOpen = timing.finished_at === null && (status === 'running' || status === 'waiting');
  const sumMs = timing.running_ms + timing.waiting_ms;
  const toMs = timing.finished_at === null ? (isOpen ? nowMs : fromMs + sumMs) : Date.parse(timing.finished_at);
  const fill: Fill = kind === 'wait' ? 'asleep' : 'waiting';
  const hasWaited = timing.waiting_ms > 0 || status === 'waiting';
  if (!hasWaited) return [{ fromMs, toMs: Math.max(fromMs, toMs), fill: 'running' }];
  const turnMs = Math.min(fromMs + timing.running_ms, toMs);
  return [
    ...(timing.running_ms > 0 ? [{ fromMs, toMs: turnMs, fill: 'running' as const }] : []),
    { fromMs: turnMs, toMs: Math.max(turnMs, toMs), fill },
  ];
}

interface RunSpan extends Span {
  readonly isQueued: boolean;
}

/** The time before the first step is that in the queue; so is the present of a queued run. */
export function busySpans(steps: readonly TimedStep[], { fromMs, toMs, isQueued }: RunSpan): Span[] {
  const running = steps.flatMap((step) => barsOf(step, toMs).filter(({ fill }) => fill === 'running'));
  const firstMs = steps.reduce(
    (least, { timing }) => (timing.started_at === null ? least : Math.min(least, Date.parse(timing.started_at))),
    toMs,
  );
  const present = isQueued ? [{ fromMs: Math.max(fromMs, toMs - 1), toMs }] : [];
  return [{ fromMs, toMs: firstMs }, ...running, ...present];
}
