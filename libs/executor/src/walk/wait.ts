// Waiting: up to a minute in place, longer by giving the run back until the time has come.
import type { StepKind, WaitStep } from '@methods/method/compiled-method';
import { evaluate } from '@methods/method/evaluate';
import { isJsonObject, type JsonValue } from '@methods/method/json';
import { timestampOf } from '@methods/method/types/instants';
import { failedCheck } from '../records/checks.ts';
import { StepFailure } from '../step-failure.ts';
import type { Turn } from './place.ts';
import { substitutionOf } from './substitution.ts';
import type { Walk } from './walk.ts';
import { type Blocked, STOPPED, type Walked } from './walk-end.ts';

const IN_PLACE_MS_MAX = 60_000;
const WAIT_MS_MAX = 366 * 86_400_000;

export async function waitUntil(walk: Walk, step: WaitStep, turn: Turn): Promise<Walked> {
  const { place, path } = turn;
  const begun = place.frame.recorder.begin();
  const checks = walk.judged(step, 'require', turn);
  const failure = failedCheck(checks);
  if (failure !== null) return walk.failed(step, turn, failure, begun, { checks });
  const mock = await substitutionOf(walk, step, turn, 1);
  if (mock?.failure) return walk.failed(step, turn, mock.failure, begun, { checks });
  if (mock !== null) return walk.finished(step, turn, mock.returned, begun, { checks });
  walk.run.options.observer?.stepStarted?.(path, 'wait', 1);
  const spanMs = step.wait.kind === 'for' ? step.wait.ms : null;
  const delay = { kind: step.kind, path, key: 'until', spanMs, endsMs: place.frame.endsMs } as const;
  try {
    const blocked = await delayUntil(walk, delay, () => timeOf(walk, step, turn));
    return blocked ?? walk.finished(step, turn, undefined, begun, { checks });
  } catch (error) {
    return walk.failed(step, turn, error, begun, { checks });
  }
}

export interface Delay {
  readonly kind: StepKind;
  readonly path: string;
  /** In the checkpoint: a round of a wait step can have a delay before it and its own time. */
  readonly key: 'until' | 'delay_until';
  /** What it takes as a whole; null: it ends at a time of its own. */
  readonly spanMs: number | null;
  /** The end of the run's own time, which waiting in place counts towards; null: no bound. */
  readonly endsMs: number | null;
}

/**
 * Null when the time has come. The time of a long wait is kept, so that a resume does not begin it again. It is kept by
 * the clock of the worker that began it: if more than the whole span is left, that clock was ahead or this one was set
 * back, and the span begins again. Otherwise a wait of minutes would take as long as the clocks differ.
 * @throws StepFailure of kind timeout when the run's own time is over before.
 */
export async function delayUntil(walk: Walk, delay: Delay, time: () => number): Promise<Blocked | null> {
  const { run } = walk;
  const { kind, path, key, spanMs, endsMs } = delay;
  const kept = keptTime(run.begun(path)?.checkpoint ?? null, key);
  const isKept = kept !== null && (spanMs === null || kept - walk.wallMs() <= spanMs);
  const untilMs = isKept ? kept : time();
  const leftMs = untilMs - walk.wallMs();
  if (leftMs > IN_PLACE_MS_MAX) {
    const checkpoint = { [key]: new Date(untilMs).toISOString() };
    if (!isKept && !(await run.started(path, kind, checkpoint))) return STOPPED;
    return { kind: 'sleeping', untilMs };
  }
  if (leftMs <= 0) return null;
  const runLeftMs = endsMs === null ? leftMs : endsMs - run.options.clock.monotonicMs();
  if (!(await run.pause(Math.max(0, Math.min(leftMs, runLeftMs))))) return STOPPED;
  if (runLeftMs < leftMs) throw new StepFailure('timeout', "No end within the run's time limit");
  return null;
}

/** True for the checkpoint of a delay before a round: the round itself has not begun. */
export function isDelay(checkpoint: JsonValue): boolean {
  return keptTime(checkpoint, 'delay_until') !== null;
}

function timeOf(walk: Walk, { wait }: WaitStep, { place }: Turn): number {
  const nowMs = walk.wallMs();
  if (wait.kind === 'for') return nowMs + wait.ms;
  const text = evaluate(wait.time, place.scope);
  const untilMs = typeof text === 'string' ? timestampOf(text) : null;
  if (untilMs === null) throw new StepFailure('expression', `${wait.time.source} is not a date and time`);
  if (untilMs - nowMs > WAIT_MS_MAX) throw new StepFailure('limit', 'A wait takes at most 366 days');
  return untilMs;
}

function keptTime(checkpoint: JsonValue, key: Delay['key']): number | null {
  const text = isJsonObject(checkpoint) ? checkpoint[key] : null;
  const timeMs = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(timeMs) ? null : timeMs;
}
