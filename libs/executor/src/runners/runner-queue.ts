// The queues of a pool by their keys, and the steps of one key: the waiting ones, the runners that serve them, and
// whether one more runner would help.
import type { Runner, WarmRunner } from './runner.ts';
import type { RunnerJob, RunnerReply, WaitingStep } from './runner-job.ts';

/** Steps that wait less than this are faster on the runners there are than on one more, whose start takes a processor. */
const SHORT_WAIT_MS = 10;
/**
 * The same holds for steps that do not wait this many times as long as they want a processor: processors are the limit.
 */
const WAIT_SHARE = 2;
/** A computing step counts as long after this many times the time after which a waiting one does. */
const COMPUTING_FACTOR = 5;
const MEAN_WEIGHT = 0.1;
/** Steps longer than this do not wait behind each other. */
const PLAIN_STEP_MS_MAX = 250;
/** The number of plain steps that go to a runner together. */
const PLAIN_MAX = 64;

export class RunnerQueue {
  /** Last used on top: the others become idle and end. */
  readonly idle: Runner[] = [];
  readonly runners = new Set<Runner>();
  /** True while the pool's timer watches this queue. */
  watched = false;
  /** True until the plain steps of this turn have been gathered. */
  gathering = false;
  /** Steps whose code counted as plain but runs better like other steps. */
  private readonly notPlain = new Set<string>();
  private waiting: WaitingStep[] = [];
  private first = 0;
  private meanMs = 0;
  private meanWantedMs = 0;

  constructor(readonly key: string) {}

  push(step: WaitingStep): void {
    this.waiting.push(step);
  }

  isPlain({ plain, step }: RunnerJob): boolean {
    return plain && !this.notPlain.has(step);
  }

  /** `reply`: the reply of a plain step that ran again as other steps do, because it `failed` or was interrupted. */
  ranAgain({ step }: RunnerJob, { failure, ms }: RunnerReply, failed: boolean): void {
    // A step that fails both times fails because of its values. An interrupted one may have been the cause of the
    // interruption.
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
    // Taken steps are removed in bulk, so that taking is cheap in a long queue.
    if (this.first > 1024 || this.first === this.waiting.length) {
      this.waiting = this.waiting.slice(this.first);
      this.first = 0;
    }
    return step;
  }

  /** Puts steps back at the head, in order: they have waited before. */
  putBack(steps: readonly WaitingStep[]): void {
    this.waiting = [...steps, ...this.waiting.slice(this.first)];
    this.first = 0;
  }

  /** The runner with the fewest queued steps where one more would begin within `withinMs`, or null. */
  withRoom(nowMs: number, withinMs: number): WarmRunner | null {
    let best: WarmRunner | null = null;
    for (const { warm: runner } of this.runners) {
      if (runner === null) continue;
      if (best !== null && runner.queuedCount >= best.queuedCount) continue;
      const inTime = (runner.queuedCount + 1) * this.meanMs <= withinMs;
      if (inTime && runner.takesQueued(nowMs, withinMs)) best = runner;
    }
    return best;
  }

  get queuedCount(): number {
    let count = 0;
    for (const { warm } of this.runners) count += warm?.queuedCount ?? 0;
    return count;
  }

  /** The runner with the most queued steps, if it has at least `min`; else null. */
  longest(min: number): WarmRunner | null {
    let longest: WarmRunner | null = null;
    for (const { warm } of this.runners) {
      if (warm !== null && warm.queuedCount >= Math.max(min, (longest?.queuedCount ?? 0) + 1)) longest = warm;
    }
    return longest;
  }

  /** The plain steps at the head, as many as go together. Empty when the head is not plain. */
  takePlain(): WaitingStep[] {
    const steps: WaitingStep[] = [];
    while (steps.length < PLAIN_MAX && this.head()?.plain) steps.push(this.take() as WaitingStep);
    return steps;
  }

  /** Removes the job's step from the queue. Null: it is not queued here. */
  remove(job: RunnerJob): WaitingStep | null {
    const at = this.waiting.findIndex((step, i) => i >= this.first && step.job === job);
    return at === -1 ? null : (this.waiting.splice(at, 1)[0] ?? null);
  }

  measured({ ms, wantedMs = ms }: RunnerReply): void {
    this.meanMs += MEAN_WEIGHT * (ms - this.meanMs);
    this.meanWantedMs += MEAN_WEIGHT * (Math.min(ms, wantedMs) - this.meanWantedMs);
  }

  /**
   * How many more runners would have work at once. 0 while one is starting, since its share of the work is not known
   * yet.
   */
  missingRunners(): number {
    for (const runner of this.runners) if (runner.isStarting) return 0;
    return this.waiting.length - this.first;
  }

  /**
   * True where steps mostly wait for something else than a processor, so that more of them run side by side; also where
   * each runner has had its step for long.
   */
  wouldGain(nowMs: number, processors: number, longMs: number): boolean {
    const waitMs = this.meanMs - this.meanWantedMs;
    if (this.runners.size < processors || waitMs > Math.max(SHORT_WAIT_MS, WAIT_SHARE * this.meanWantedMs)) return true;
    for (const runner of this.runners) {
      const ms = nowMs - runner.sinceMs;
      // On a busy machine a short computation takes long, and takes longer beside one more.
      if (ms < longMs || (ms < COMPUTING_FACTOR * longMs && runner.isComputing)) return false;
    }
    return true;
  }
}

/** The queues of a pool by their keys. */
export class RunnerQueues {
  private readonly queues = new Map<string, RunnerQueue>();

  of(key: string): RunnerQueue {
    let queue = this.queues.get(key);
    if (queue === undefined) {
      queue = new RunnerQueue(key);
      this.queues.set(key, queue);
    }
    return queue;
  }

  get(key: string): RunnerQueue | undefined {
    return this.queues.get(key);
  }

  all(): readonly RunnerQueue[] {
    return [...this.queues.values()];
  }

  remove({ key }: RunnerQueue): void {
    this.queues.delete(key);
  }

  /** Of the other queues without a runner, the one that has waited longest. */
  waiting(than: RunnerQueue): RunnerQueue | null {
    if (this.queues.size === 1) return null;
    let longest: RunnerQueue | null = null;
    let sinceMs = Number.POSITIVE_INFINITY;
    for (const queue of this.queues.values()) {
      const head = queue === than || queue.runners.size > 0 ? null : queue.head();
      if (head === null || head.sinceMs >= sinceMs) continue;
      longest = queue;
      sinceMs = head.sinceMs;
    }
    return longest;
  }

  longestIdle(): Runner | null {
    let oldest: Runner | null = null;
    for (const { idle } of this.queues.values()) {
      if (idle[0] && (oldest === null || idle[0].sinceMs < oldest.sinceMs)) oldest = idle[0];
    }
    return oldest;
  }

  idleSince(ms: number): Runner[] {
    return this.all().flatMap(({ idle }) => idle.filter((runner) => runner.sinceMs <= ms));
  }
}
