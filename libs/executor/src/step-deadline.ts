// Which deadline ends a try of a step first: its own, or that of the whole run.
import type { StepLimits } from '@methods/method/compiled-method';
import { durationText } from '@methods/method/structure/duration';

export interface StepDeadline {
  readonly timeoutMs: number | null;
  /** For "No end within 10m". */
  readonly text: string;
}

/** Timers count in 31 bits; a longer one would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export function stepDeadline(limits: StepLimits, runTimeLeftMs: number | null): StepDeadline {
  const ownMs = limits.timeoutMs;
  if (runTimeLeftMs !== null && (ownMs === null || runTimeLeftMs < ownMs)) {
    return { timeoutMs: Math.max(1, Math.min(runTimeLeftMs, TIMER_MS_MAX)), text: "the run's time limit" };
  }
  if (ownMs === null) return { timeoutMs: null, text: '' };
  return { timeoutMs: Math.min(ownMs, TIMER_MS_MAX), text: limits.timeoutText ?? durationText(ownMs) };
}
