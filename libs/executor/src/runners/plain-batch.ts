// A batch of plain steps in one runner, which runs them in order and reports their ends in few messages. If a step
// fails or delays the others, the steps without an end run again one by one, as all other steps do: no one can observe
// that plain code has run before.
import type { Timer } from '@methods/base/clock';
import type { RunnerOptions } from './runner.ts';
import type { RunnerJob, WaitingStep } from './runner-job.ts';
import { type PlainCodeMessage, type PlainStepMessage, readRunnerMessage } from './runner-protocol.ts';

/** When no end arrives for this long, the step at work is too slow for others to wait behind it. */
const PATIENCE_MS = 1000;

export class PlainBatch {
  /** Why the runner must take no more steps. */
  replace: string | null = null;
  private readonly waiting: (WaitingStep | null)[];
  private at = 0;
  private timer: Timer;

  /** `first`: the number of the first step; the others follow. `onStuck`: no end came in time. */
  constructor(
    private readonly first: number,
    steps: readonly WaitingStep[],
    private readonly options: Pick<RunnerOptions, 'clock' | 'onReturned'>,
    private readonly onStuck: () => void,
  ) {
    this.waiting = [...steps];
    this.timer = this.watched();
  }

  get hasEnded(): boolean {
    return this.at === this.waiting.length;
  }

  /** The messages for the runner. `known`: the steps whose code it already has. */
  lines(known: Set<string>): string {
    let lines = '';
    for (const [i, it] of this.waiting.entries()) {
      if (it === null) continue;
      const { step, code, names, values } = it.job;
      if (!known.has(step)) {
        known.add(step);
        lines += `${JSON.stringify({ t: 'plain code', step, code, names } satisfies PlainCodeMessage)}\n`;
      }
      lines += `${JSON.stringify({ t: 'plain', n: this.first + i, step, values } satisfies PlainStepMessage)}\n`;
    }
    return lines;
  }

  /** Removes the job's step, which then has no end here. Null: it is not among the waiting steps. */
  remove(job: RunnerJob): WaitingStep | null {
    const at = this.waiting.findIndex((it) => it?.job === job);
    const step = this.waiting[at] ?? null;
    if (step !== null) this.waiting[at] = null;
    return step;
  }

  take(line: string): void {
    const message = readRunnerMessage(line, this.first + this.at);
    if (message?.t !== 'end' && message?.t !== 'again') return;
    const step = this.waiting[this.at] ?? null;
    this.waiting[this.at] = null;
    this.at++;
    if (this.hasEnded) this.timer.cancel();
    if (message.t === 'end') this.replace ??= message.replace;
    if (step === null) return;
    const { timeoutMs } = step.job;
    if (message.t === 'again') this.options.onReturned([step], true);
    else if (timeoutMs !== null && message.ms > timeoutMs) this.options.onReturned([step], false);
    else step.done({ out: message.out, failure: null, checks: [], stdout: null, ms: message.ms });
  }

  /** Called when the runner ends or is stuck. */
  giveBack(): void {
    this.timer.cancel();
    const steps = this.waiting.filter((it) => it !== null);
    this.waiting.fill(null);
    if (steps.length > 0) this.options.onReturned(steps, false);
  }

  private watched(): Timer {
    const { at } = this;
    return this.options.clock.after(PATIENCE_MS, () => {
      if (this.at === at) this.onStuck();
      else this.timer = this.watched();
    });
  }
}
