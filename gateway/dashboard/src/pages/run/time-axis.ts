// Where times are on the timeline: the axis leaves out long stretches in which nothing was queued or running, each with a
// break of fixed width that names the wait. Pure.

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface AxisBreak extends Span {
  /** Its left edge. */
  readonly px: number;
}

export interface TimeAxis {
  readonly breaks: readonly AxisBreak[];
  /** Within the axis, also for a time outside of it. */
  px(ms: number): number;
  /** Ticks of round durations since the start. */
  readonly ticks: readonly { readonly px: number; readonly sinceMs: number }[];
}

export const BREAK_PX = 24;
const BREAKS_MAX = 20;
/** Breaks are made if they shorten the axis by this share. */
const SHORTENED_MIN = 0.35;
/** `+59 min 59 s` in the font of the axis. */
const TICK_TEXT_PX = 56;
const TICK_PX_MIN = 90;
const ROUND_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4, 3e5, 6e5, 18e5, 36e5, 216e5, 864e5];

interface AxisOptions extends Span {
  /** When something was queued or running, in any order. */
  readonly busy: readonly Span[];
  readonly widthPx: number;
  /** Leave nothing out. */
  readonly isScaled: boolean;
}

export function timeAxis({ fromMs, toMs, busy, widthPx, isScaled }: AxisOptions): TimeAxis {
  const endMs = Math.max(toMs, fromMs + 1);
  const idle = isScaled ? [] : longIdle({ fromMs, toMs: endMs }, busy);
  const shownMs = endMs - fromMs - idle.reduce((sum, gap) => sum + length(gap), 0);
  const perMs = Math.max(0, widthPx - idle.length * BREAK_PX) / Math.max(1, shownMs);
  const px = (ms: number) => {
    const at = Math.min(Math.max(ms, fromMs), endMs);
    let place = (at - fromMs) * perMs;
    for (const gap of idle) {
      if (at <= gap.fromMs) break;
      const inside = Math.min(at, gap.toMs) - gap.fromMs;
      place += (inside / length(gap)) * BREAK_PX - inside * perMs;
    }
    return place;
  };
  return {
    breaks: idle.map((gap) => ({ ...gap, px: px(gap.fromMs) })),
    px,
    ticks: ticksOf(fromMs, endMs, px, perMs, idle),
  };
}

/** The stretches to leave out, in order; none if they would not shorten the axis much. */
function longIdle(all: Span, busy: readonly Span[]): Span[] {
  const totalMs = length(all);
  const gaps = idleSpans(all, busy)
    .filter((gap) => length(gap) > 0.03 * totalMs)
    .sort((a, b) => length(b) - length(a))
    .slice(0, BREAKS_MAX);
  const leftOutMs = gaps.reduce((sum, gap) => sum + length(gap), 0);
  return leftOutMs < SHORTENED_MIN * totalMs ? [] : gaps.sort((a, b) => a.fromMs - b.fromMs);
}

function idleSpans({ fromMs, toMs }: Span, busy: readonly Span[]): Span[] {
  const gaps: Span[] = [];
  let reachedMs = fromMs;
  for (const span of [...busy].sort((a, b) => a.fromMs - b.fromMs)) {
    if (span.fromMs > reachedMs) gaps.push({ fromMs: reachedMs, toMs: Math.min(span.fromMs, toMs) });
    reachedMs = Math.max(reachedMs, span.toMs);
  }
  if (reachedMs < toMs) gaps.push({ fromMs: reachedMs, toMs });
  return gaps.filter((gap) => length(gap) > 0);
}

function ticksOf(fromMs: number, toMs: number, px: (ms: number) => number, perMs: number, idle: readonly Span[]) {
  const everyMs = ROUND_MS.find((ms) => ms * perMs >= TICK_PX_MIN);
  const ticks = [{ px: 0, sinceMs: 0 }];
  if (everyMs === undefined) return ticks;
  const roomPx = px(toMs) - TICK_TEXT_PX;
  // Ticks within a break, or close to another one, would say nothing; at the end their text would be cut.
  const parts = [...idle.map((gap) => gap.fromMs), toMs];
  let partMs = fromMs;
  for (const [at, untilMs] of parts.entries()) {
    for (let since = Math.ceil((partMs - fromMs) / everyMs) * everyMs; since <= untilMs - fromMs; since += everyMs) {
      const place = px(fromMs + since);
      if (place <= roomPx && place - (ticks.at(-1)?.px ?? 0) >= TICK_PX_MIN * 0.75)
        ticks.push({ px: place, sinceMs: since });
      if (ticks.length > 40) return ticks;
    }
    partMs = idle[at]?.toMs ?? toMs;
  }
  return ticks;
}

function length({ fromMs, toMs }: Span): number {
  return toMs - fromMs;
}
