// Reports slow steps to the journal, so that a run shows its current step: a start is reported when the step has run
// for a moment, since most steps end before that and their records are enough.
import type { CompiledStep } from '@methods/method/compiled-method';
import type { RunOptions } from '../run-options.ts';

const TOLD_AFTER_MS = 50;

/** Steps that end at once, or that rest without a process and are reported in other ways. */
const UNTOLD: ReadonlySet<string> = new Set(['check', 'ask']);

export class StepStarts {
  /**
   * Steps whose start is recorded, or is being recorded, with the state that a resume needs: another record would
   * replace it.
   */
  private readonly recorded = new Set<string>();

  /** `flush` sends the records of the steps before: a start keeps its place after them. */
  constructor(
    private readonly options: RunOptions,
    private readonly flush: () => void,
  ) {}

  /** A record of the start is made elsewhere. */
  isRecorded(path: string): void {
    this.recorded.add(path);
  }

  /** `work` is the step. */
  during<T>({ kind }: CompiledStep, path: string, work: () => T | Promise<T>): T | Promise<T> {
    const { journal, clock, finished, startsToldAfterMs = TOLD_AFTER_MS } = this.options;
    const known = finished.get(path);
    const keepsNote = known?.status === 'running' && known.out !== null;
    if (journal.stepRuns === undefined || UNTOLD.has(kind) || keepsNote) return work();
    const startedAtMs = clock.wallMs();
    const tell = () => {
      if (this.recorded.has(path) || this.options.signal.aborted) return;
      this.flush();
      journal.stepRuns?.(path, kind, startedAtMs);
    };
    if (startsToldAfterMs === 0) {
      tell();
      return work();
    }
    const timer = clock.after(startsToldAfterMs, tell);
    const ended = work();
    if (!(ended instanceof Promise)) {
      timer.cancel();
      return ended;
    }
    return ended.finally(() => timer.cancel());
  }
}
