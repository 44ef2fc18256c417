// The end of a run from outside (cancelled, lost, stale) as its steps see it, and the deadlines that end a try. One
// listener for each run: adding one for every step would cost more than a short step itself.
import type { StepLimits } from '@methods/method/compiled-method';
import { durationText } from '@methods/method/structure/duration';

/** An AbortSignal, or what a caller with many runs has in its place: a signal costs as much as a short step. */
export interface StopSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: StopListener): void;
  removeEventListener(type: 'abort', listener: StopListener): void;
}

export interface StopListener {
  handleEvent(): void;
}

export class RunStop implements StopListener {
  private readonly cancels = new Set<() => void>();
  /** Stored here: it is read at every turn of a walk, and reading the signal is slow. */
  private aborted: boolean;

  constructor(private readonly signal: StopSignal) {
    this.aborted = signal.aborted;
    signal.addEventListener('abort', this);
  }

  get stopped(): boolean {
    return this.aborted;
  }

  handleEvent(): void {
    this.aborted = true;
    for (const cancel of this.cancels) cancel();
  }

  /** Waits for `work`; calls `cancel` when the run is stopped meanwhile. */
  async during<T>(work: Promise<T>, cancel: () => void): Promise<T> {
    if (this.stopped) cancel();
    this.cancels.add(cancel);
    try {
      return await work;
    } finally {
      this.cancels.delete(cancel);
    }
  }

  /** At the run's end; the signal may live longer. */
  release(): void {
    this.signal.removeEventListener('abort', this);
  }
}

/** Which deadline ends a try of a step first: its own, or that of the whole run. */
interface StepDeadline {
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
