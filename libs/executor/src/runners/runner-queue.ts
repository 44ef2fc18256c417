// The steps of one key: those that wait, the runners that serve them, and whether one runner more would help.
import type { Runner } from './runner.ts';
import type { RunnerJob, RunnerReply, WaitingStep } from './runner-job.ts';

/** Steps shorter than this are faster on the runners there are than on one more: the processors are the limit. */
const SHORT_STEP_MS = 10;
const MEAN_WEIGHT = 0.1;
/** Steps longer than this are not kept waiting behind each other. */
const PLAIN_STEP_MS_MAX = 250;
/** Of their time; where runners or the worker wait for processors for longer than this, the machine is busy. */
const WAITED_SHARE_MAX = 0.25;
/** A look at a runner reads a file. */
const LOOKED_AT_MAX = 8;
/** By how much a step must be longer to count as long where the machine is busy. */
const BUSY_FACTOR = 10;
/** Plain steps that go to a runner together. */
const PLAIN_MAX = 64;

export class RunnerQueue {
  /** Last used on top: the others grow old and end. */
  readonly idle: Runner[] = [];
  readonly runners = new Set<Runner>();
  /** True while the pool's timer watches this queue. */
  watched = false;
  /** True until the plain steps of this turn have been gathered. */
  gathering = false;
  /** Steps whose code was found plain, and which are better run as others are. */
  private readonly notPlain = new Set<string>();
  private waiting: WaitingStep[] = [];
  private first = 0;
  private meanMs = 0;

  /** `workerWaitedShare`: as `Runner.waitedShare`, of this very process. */
  constructor(
    readonly key: string,
    private readonly workerWaitedShare: () => number,
  ) {}

  push(step: WaitingStep): void {
    this.waiting.push(step);
  }

  isPlain({ plain, step }: RunnerJob): boolean {
    return plain && !this.notPlain.has(step);
  }

  /** `reply`: of a plain step that was run again as others are, because it `failed` or was interrupted. */
  ranAgain({ step }: RunnerJob, { failure, ms }: RunnerReply, failed: boolean): void {
    // One that fails both times fails because of its values; one that was interrupted may have been the cause of it.
    if (failed ? failure === null : failure !== null || ms > PLAIN_STEP_MS_MAX) this.notPlain.add(step);
  }

  /** The step that has waited longest, or null. */
  head(): WaitingStep | null {
    return this.waiting[this.first] ?? null;
  }

  take(): WaitingStep | null {
    const step = this.head();
    if (step === null) return null;
    this.first++;
    // The taken ones are dropped in bulk, so that taking stays cheap in a long queue.
    if (this.first > 1024 || this.first === this.waiting.length) {
      this.waiting = this.waiting.slice(this.first);
      this.first = 0;
    }
    return step;
  }

  /** The plain steps at the head, as many as go together; none where the head is not plain. */
  takePlain(): WaitingStep[] {
    const steps: WaitingStep[] = [];
    while (steps.length < PLAIN_MAX && this.head()?.plain) steps.push(this.take() as WaitingStep);
    return steps;
  }

  /** The job's step, which leaves the queue; null: it does not wait here. */
  remove(job: RunnerJob): WaitingStep | null {
    const at = this.waiting.findIndex((step, i) => i >= this.first && step.job === job);
    return at === -1 ? null : (this.waiting.splice(at, 1)[0] ?? null);
  }

  measured(ms: number): void {
    this.meanMs += MEAN_WEIGHT * (ms - this.meanMs);
  }

  /** How many more would have work at once; none while one is starting, as what it will take on is not known yet. */
  missingRunners(): number {
    for (const runner of this.runners) if (runner.isStarting) return 0;
    return this.waiting.length - this.first;
  }

  /**
   * True when steps are long, so that runners mostly wait and more of them run side by side. Where the machine is busy
   * short steps seem long, so that only those count that are long without a doubt.
   */
  wouldGain(nowMs: number, processors: number, longMs: number): boolean {
    if (this.runners.size < processors) return true;
    const factor = this.waitForProcessors(processors) ? BUSY_FACTOR : 1;
    return this.meanMs > SHORT_STEP_MS * factor || this.allSince(nowMs - longMs * factor);
  }

  /** Whether the machine was busy since the last call; fewer runners than `processors` are not looked at. */
  waitForProcessors(processors: number): boolean {
    if (this.runners.size < processors) return false;
    const worker = this.workerWaitedShare();
    const looked = [...this.runners].slice(0, LOOKED_AT_MAX);
    const sum = looked.reduce((sum, runner) => sum + runner.waitedShare(), 0);
    return worker > WAITED_SHARE_MAX || sum > WAITED_SHARE_MAX * looked.length;
  }

  private allSince(ms: number): boolean {
    for (const runner of this.runners) if (runner.sinceMs > ms) return false;
    return true;
  }
}
