// The warm runners of a worker. A step is a message to an idle runner; another process is started only when steps have
// waited about as long as its start takes, so that many short steps share few processes and long steps still run side
// by side.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { AssertionFailed } from '@methods/base/assert';
import type { Clock } from '@methods/base/clock';
import type { Stoppable } from '@methods/base/stoppable';
import { removeFolder } from '@methods/content/folder/remove-folder';
import { type Isolation, isolationLevel } from './isolation.ts';
import { EscapedProcesses } from './runners/ended-processes.ts';
import { GroupReaper } from './runners/group-reaper.ts';
import { ProcessWatch } from './runners/process-watch.ts';
import { PythonRuntimes } from './runners/python-runtime.ts';
import type { Runner, RunnerOptions } from './runners/runner.ts';
import type { RunnerJob, RunnerReply, WaitingStep } from './runners/runner-job.ts';
import { RunnerProcess } from './runners/runner-process.ts';
import { type RunnerQueue, RunnerQueues } from './runners/runner-queue.ts';
import { ShellProcess } from './runners/shell-process.ts';
import { StepFailure } from './step-failure.ts';

/**
 * In a full pool a runner is replaced by one of another version only after this many start times, since a change costs
 * one.
 */
const STARVE_FACTOR = 5;

export interface RunnerPoolOptions {
  /** Holds the runners' exchange folders; they are removed again, even if this process is killed. */
  readonly folder: string;
  /** Most processes at a time: as many steps run side by side. */
  readonly runnersMax: number;
  /** PATH of the steps. */
  readonly path: string;
  readonly clock: Clock;
  readonly lang?: string;
  /** Detected at the start unless given; see `isolationLevel`. */
  readonly isolation?: Isolation;
  /** An idle runner ends after this time; 60 s unless given. */
  readonly idleMs?: number;
  /** How long a step waits for a busy runner before another is started; 40 ms unless given. */
  readonly spawnAfterMs?: number;
}

export class RunnerPool implements Stoppable {
  protected readonly queues = new RunnerQueues();
  /** All live processes, including those that accept no more steps. */
  private readonly live = new Set<Runner>();
  private readonly idleMs: number;
  private readonly spawnAfterMs: number;
  private readonly processors = availableParallelism();
  /** The interpreters found so far. */
  readonly pythons = new PythonRuntimes();
  private readonly watches: ProcessWatch;
  private readonly escaped: EscapedProcesses;
  private level: Isolation | null = null;
  private folder: string | null = null;
  private reaper: GroupReaper | null = null;
  private runnerSerial = 0;
  private freshSerial = 0;
  private runnerCount = 0;
  private sweeping = false;
  private stopped = false;

  constructor(private readonly options: RunnerPoolOptions) {
    this.idleMs = options.idleMs ?? 60_000;
    this.spawnAfterMs = options.spawnAfterMs ?? 40;
    this.watches = new ProcessWatch(options.clock);
    this.escaped = new EscapedProcesses(options.clock);
  }

  start(): void {
    mkdirSync(this.options.folder, { recursive: true });
    this.folder = mkdtempSync(join(this.options.folder, 'runners-'));
    this.reaper = new GroupReaper(this.options.path, this.folder);
    this.level = this.options.isolation ?? isolationLevel(this.options.path);
  }

  /** Kills all runners; steps still running fail. */
  async stop(): Promise<void> {
    this.stopped = true;
    for (const queue of this.queues.all()) {
      for (let step = queue.take(); step !== null; step = queue.take()) step.done(failed('The worker stops'));
    }
    await Promise.all([...this.live].map((runner) => runner.kill()));
    this.watches.stop();
    this.escaped.endNow();
    await this.reaper?.stop();
    if (this.folder !== null) await removeFolder(this.folder);
  }

  /** How steps are kept apart; `text` is for the host to print. Once started. */
  get isolation(): Isolation {
    if (this.level === null) throw new AssertionFailed('the runner pool is not started');
    return this.level;
  }

  /** Processes that can take steps. */
  get size(): number {
    return this.runnerCount;
  }

  /** PATH of the steps, without that of their dependencies. */
  get path(): string {
    return this.options.path;
  }

  /** A key for only one step: its process is its own. */
  freshKey(): string {
    return `fresh ${++this.freshSerial}`;
  }

  /** Never rejects. */
  run(job: RunnerJob): Promise<RunnerReply> {
    const queue = this.queues.of(job.runnerKey);
    const sinceMs = this.options.clock.monotonicMs();
    return new Promise((done) => this.take(queue, { job, plain: queue.isPlain(job), sinceMs, done }));
  }

  /** Ends the step and its process group; nothing happens once it has ended. */
  cancel(job: RunnerJob): void {
    const queue = this.queues.get(job.runnerKey);
    if (queue === undefined) return;
    for (const runner of queue.runners) {
      // The others continue, and it ends in a moment.
      const plain = runner.warm?.removePlain(job);
      if (plain) return plain.done(failed('The step was stopped'));
      if (runner.has(job)) return runner.end(new StepFailure('internal', 'The step was stopped'));
      if (runner.warm?.stopQueued(job, new StepFailure('internal', 'The step was stopped'))) return;
    }
    queue.remove(job)?.done(failed('The step was stopped'));
  }

  private take(queue: RunnerQueue, step: WaitingStep): void {
    if (this.stopped) return step.done(failed('The worker stops'));
    if (!step.plain) {
      const runner = queue.idle.pop();
      if (runner !== undefined) return this.give(queue, runner, step);
    }
    queue.push(step);
    if (queue.runners.size === 0) this.grow(queue);
    else if (step.plain) this.gather(queue);
    else this.fill(queue);
    this.watch(queue);
  }

  /** The steps at the head are queued at runners, so that the next one is there when one ends. */
  private fill(queue: RunnerQueue): void {
    const isStarving = this.runnerCount >= this.options.runnersMax && this.starvingQueue(queue) !== null;
    if (this.stopped || isStarving) return;
    const nowMs = this.options.clock.monotonicMs();
    for (let head = queue.head(); head !== null && !head.plain && head.job.mayWait; head = queue.head()) {
      const runner = queue.withRoom(nowMs, this.spawnAfterMs);
      if (runner === null) return;
      if (runner.queue(head, this.measuring(queue, head.done))) queue.take();
    }
  }

  /** Steps that waited in line and have not begun. */
  private putBack(queue: RunnerQueue, steps: readonly WaitingStep[]): void {
    if (this.stopped) for (const { done } of steps) done(failed('The worker stops'));
    else queue.putBack(steps);
    while (queue.head() !== null && queue.idle.length > 0) this.serve(queue, queue.idle.pop() as Runner);
    this.watch(queue);
  }

  /** The plain steps of one turn go to a runner together. */
  private gather(queue: RunnerQueue): void {
    if (queue.gathering) return;
    queue.gathering = true;
    setImmediate(() => {
      queue.gathering = false;
      if (this.stopped) return;
      while (queue.head() !== null && queue.idle.length > 0) this.serve(queue, queue.idle.pop() as Runner);
    });
  }

  /** Gives the runner the step that has waited longest; there is one. */
  private serve(queue: RunnerQueue, runner: Runner): void {
    const steps = queue.takePlain();
    if (steps.length > 0) return runner.warm?.runPlain(steps);
    const step = queue.take();
    if (step !== null) this.give(queue, runner, step);
  }

  private give(queue: RunnerQueue, runner: Runner, { job, done }: WaitingStep): void {
    runner.run(job, this.measuring(queue, done));
  }

  private measuring(queue: RunnerQueue, done: WaitingStep['done']): WaitingStep['done'] {
    return (reply) => {
      queue.measured(reply);
      done(reply);
    };
  }

  /** Plain steps that do not end are ended as other steps. */
  private runAgain(queue: RunnerQueue, steps: readonly WaitingStep[], failed: boolean): void {
    for (const { job, sinceMs, done } of steps) {
      const end = (reply: RunnerReply) => {
        queue.ranAgain(job, reply, failed);
        done(reply);
      };
      this.take(queue, { job, plain: false, sinceMs, done: end });
    }
  }

  private onIdle(queue: RunnerQueue, runner: Runner): void {
    if (this.runnerCount >= this.options.runnersMax && this.hasServed(runner) && this.starvingQueue(queue) !== null) {
      // Its place is given to the starving queue when it retires.
      void runner.kill();
      return;
    }
    // A runner without work takes steps from the one with the longest queue.
    if (queue.head() === null) queue.longest(2)?.takeBack();
    if (queue.head() !== null) {
      this.serve(queue, runner);
      return this.fill(queue);
    }
    queue.idle.push(runner);
    this.sweepLater();
  }

  private onRetired(queue: RunnerQueue, runner: Runner): void {
    queue.runners.delete(runner);
    this.runnerCount--;
    const at = queue.idle.indexOf(runner);
    if (at !== -1) queue.idle.splice(at, 1);
    // A process that cannot even start would be started again forever.
    if (runner.isStarting) queue.take()?.done(failed('A process for the step could not be started'));
    const next = this.queues.waiting(queue);
    if (next !== null) this.grow(next);
    if (queue.runners.size > 0) return;
    if (queue.head() === null) this.queues.remove(queue);
    else this.grow(queue);
  }

  private onExit(runner: Runner, pid: number | undefined, workDir: string): void {
    this.live.delete(runner);
    if (pid === undefined) return;
    this.reaper?.ended(pid);
    if (this.isolation.level === 'group') this.escaped.endLater(workDir);
  }

  /** One runner more for the queue, if need be in place of the one idle longest elsewhere. */
  private grow(queue: RunnerQueue): void {
    const head = queue.head();
    if (head === null || this.stopped) return;
    if (this.runnerCount >= this.options.runnersMax) void this.queues.longestIdle()?.kill();
    if (this.runnerCount >= this.options.runnersMax) return;
    let runner: Runner;
    try {
      runner = this.spawn(queue, head.job);
    } catch (error) {
      if (error instanceof AssertionFailed) throw error;
      // No process, no memory or no disk is left: the step fails, and the worker must not.
      queue.take()?.done(failed('A process for the step could not be started'));
      return;
    }
    this.live.add(runner);
    queue.runners.add(runner);
    this.runnerCount++;
    if (!runner.isStarting) this.onIdle(queue, runner);
  }

  private spawn(queue: RunnerQueue, job: RunnerJob): Runner {
    if (this.folder === null) throw new AssertionFailed('the runner pool is not started');
    const options: RunnerOptions = {
      folder: join(this.folder, String(++this.runnerSerial)),
      path: this.options.path,
      lang: this.options.lang ?? 'C.UTF-8',
      isolation: this.isolation,
      clock: this.options.clock,
      onIdle: (idle) => this.onIdle(queue, idle),
      onRoom: () => this.fill(queue),
      onTakenBack: (steps) => this.putBack(queue, steps),
      onReturned: (steps, failed) => this.runAgain(queue, steps, failed),
      onSpawned: (pid) => this.reaper?.started(pid),
      onRetired: (retired) => this.onRetired(queue, retired),
      onExit: (gone, pid, workDir) => this.onExit(gone, pid, workDir),
    };
    if (job.language === 'shell') return new ShellProcess(job, options, this.watches);
    return new RunnerProcess(job, options, this.watches);
  }

  /** Long enough to justify its start; otherwise two queues would only take the last place from each other. */
  private hasServed(runner: Runner): boolean {
    return this.options.clock.monotonicMs() - runner.readyMs >= STARVE_FACTOR * this.spawnAfterMs;
  }

  /** Another queue, without any runner, that waits longer than it should. */
  private starvingQueue(than: RunnerQueue): RunnerQueue | null {
    const queue = this.queues.waiting(than);
    const sinceMs = this.options.clock.monotonicMs() - STARVE_FACTOR * this.spawnAfterMs;
    return queue !== null && (queue.head()?.sinceMs ?? sinceMs) < sinceMs ? queue : null;
  }

  private watch(queue: RunnerQueue): void {
    if (queue.watched) return;
    queue.watched = true;
    this.options.clock.after(this.spawnAfterMs, () => {
      // After this turn's reading: when the worker itself was late, the replies are here and only waited to be read.
      setImmediate(() => this.growIfLate(queue));
    });
  }

  private growIfLate(queue: RunnerQueue): void {
    queue.watched = false;
    if (this.stopped) return;
    const nowMs = this.options.clock.monotonicMs();
    // Steps queued behind a long step move elsewhere.
    for (const { warm } of queue.runners) {
      if (warm !== null && warm.queuedCount > 0 && nowMs - warm.sinceMs >= this.spawnAfterMs) warm.takeBack();
    }
    const head = queue.head();
    if (head === null) {
      if (queue.longest(1) !== null) this.watch(queue);
      return;
    }
    const isLate = nowMs - head.sinceMs >= this.spawnAfterMs;
    if (isLate && queue.wouldGain(nowMs, this.processors, this.spawnAfterMs)) {
      // As many at a time as there are processors to start them on.
      const count = Math.min(queue.missingRunners(), this.processors);
      for (let i = 0; i < count; i++) this.grow(queue);
    }
    this.watch(queue);
  }

  private sweepLater(): void {
    if (this.sweeping) return;
    this.sweeping = true;
    this.options.clock.after(this.idleMs / 4, () => {
      this.sweeping = false;
      const endedMs = this.options.clock.monotonicMs() - this.idleMs;
      for (const runner of this.queues.idleSince(endedMs)) void runner.kill();
      if (this.queues.longestIdle() !== null) this.sweepLater();
    });
  }
}

function failed(message: string): RunnerReply {
  return { out: undefined, failure: new StepFailure('internal', message), checks: [], stdout: null, ms: 0 };
}
