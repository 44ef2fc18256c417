// One warm runner of node or python steps: a process that runs one step after another. A step is settled exactly once,
// however it ends (answer, time-out, crash, cancel).
import type { Timer } from '@methods/base/clock';
import type { JsonValue } from '@methods/method/json';
import { StepFailure } from '../step-failure.ts';
import type { ChildGroup } from './child-group.ts';
import { ExchangeFolder } from './exchange-folder.ts';
import { PlainBatch } from './plain-batch.ts';
import type { ProcessWatch } from './process-watch.ts';
import { QueuedSteps } from './queued-steps.ts';
import { deathFailure, type RunnerOptions, type WarmRunner } from './runner.ts';
import type { RunnerJob, RunnerReply, WaitingStep } from './runner-job.ts';
import { startWarmChild, stepUserOf } from './runner-launch.ts';
import type { RunnerOutput } from './runner-output.ts';
import { type ContinueMessage, type EndMessage, readRunnerMessage } from './runner-protocol.ts';
import { asStepFailure, collectFiles, FILES_FAILED, failedWith, RunningStep, type StepTime } from './running-step.ts';
import { StepLines } from './step-lines.ts';

const CONTINUE = `${JSON.stringify({ t: 'continue' } satisfies ContinueMessage)}\n`;
const REPLACED = new StepFailure('internal', 'The runner was replaced');
/** How long the end of a step may be on its way. */
const END_MS_MAX = 10_000;
/** Asks for more steps when this few are left in line. */
const ROOM_AT = 4;
/** Bounds the lines that the runner has not read yet, so that large values do not accumulate. */
const UNREAD_MAX = 64 * 1024;

export class RunnerProcess implements WarmRunner {
  readonly warm = this;
  sinceMs: number;
  readyMs = 0;
  private readonly folder: ExchangeFolder;
  private readonly child: ChildGroup;
  private readonly lines: StepLines;
  private readonly output: RunnerOutput;
  private readonly knownPlainSteps = new Set<string>();
  private current: RunningStep | null = null;
  private batch: PlainBatch | null = null;
  private readonly queued: QueuedSteps;
  /** Lines of queued steps, written with the other output of this turn. */
  private later = '';
  /** Accepts no more queued steps: one of them is about to end the process. */
  private closing = false;
  /** The failure of the present step when the process is gone. */
  private doom: StepFailure | null = null;
  private serial = 0;
  private retired = false;
  private replaced = false;
  private gone = false;
  /** Collects a step's files; its folder is kept until then. */
  private collecting: Promise<void> | null = null;
  private readonly startLimit: Timer;

  constructor(
    private readonly job: RunnerJob,
    private readonly options: RunnerOptions,
    private readonly watch: ProcessWatch,
  ) {
    this.sinceMs = options.clock.monotonicMs();
    this.folder = new ExchangeFolder(options.folder, job.environment.nodePath, stepUserOf(options));
    this.lines = new StepLines(this.folder, options.isolation.level === 'sandbox');
    this.queued = new QueuedSteps(this.folder.dir);
    const started = startWarmChild(
      { job, folder: this.folder, runner: options, tickets: this.queued.descriptor },
      {
        onReady: () => this.ready(),
        onStuck: () => void this.kill(),
        onLine: (line) => this.onLine(line),
        onPrint: (source, chunk) => this.current?.print(source, chunk),
        onOverflow: () => this.endProcess(new StepFailure('limit', 'The step sent more than a message may hold')),
        onLost: () => {
          this.replaced = true;
        },
        onGone: (code, signal) => void this.onGone(code, signal),
        onFailed: () => this.close(),
      },
    );
    this.child = started.child;
    this.output = started.output;
    if (this.child.pid !== undefined) options.onSpawned(this.child.pid);
    this.startLimit = started.startLimit;
  }

  get isStarting(): boolean {
    return this.readyMs === 0;
  }

  get isComputing(): boolean {
    return this.child.isComputing;
  }

  run(job: RunnerJob, done: (reply: RunnerReply) => void): void {
    const n = ++this.serial;
    this.begin(n, job, done);
    let lines: string;
    try {
      lines = this.lines.of(n, job, false);
    } catch {
      this.settle(undefined, new StepFailure('internal', 'The files of the step could not be given to it'));
      this.options.onIdle(this);
      return;
    }
    this.write(lines);
  }

  get queuedCount(): number {
    return this.queued.size;
  }

  takesQueued(nowMs: number, longMs: number): boolean {
    const { queued, current } = this;
    if (!queued.hasRoom || this.retired || this.replaced || this.closing) return false;
    if (this.later.length + this.child.unreadBytes > UNREAD_MAX) return false;
    return current?.job.mayWait === true && nowMs - this.sinceMs < longMs;
  }

  queue(step: WaitingStep, done: (reply: RunnerReply) => void): boolean {
    if (!this.queued.add({ n: ++this.serial, step, done, isStopped: false })) return false;
    if (this.later === '') setImmediate(() => this.write(''));
    this.later += this.lines.of(this.serial, step.job, true);
    return true;
  }

  takeBack(): void {
    this.freed(this.reclaim());
  }

  runPlain(steps: readonly WaitingStep[]): void {
    const batch = new PlainBatch(this.serial + 1, steps, this.options, () => void this.kill());
    this.serial += steps.length;
    this.batch = batch;
    this.sinceMs = this.options.clock.monotonicMs();
    const { pid } = this.child;
    if (pid !== undefined) this.watch.add(this, pid, this.job.memoryMb);
    this.write(batch.lines(this.knownPlainSteps));
  }

  has(job: RunnerJob): boolean {
    return this.current?.job === job;
  }

  removePlain(job: RunnerJob): WaitingStep | null {
    return this.batch?.remove(job) ?? null;
  }

  stopQueued(job: RunnerJob, failure: StepFailure): boolean {
    const step = this.queued.find(job);
    if (step === null) return false;
    const present = this.reclaim(step);
    if (this.queued.stop(step)) this.closing = true;
    step.done(failedWith(failure));
    this.freed(present);
    return true;
  }

  end(failure: StepFailure): void {
    const present = this.reclaim();
    if (present !== null) {
      present.done(failedWith(failure));
      return this.options.onIdle(this);
    }
    if (this.queuedCount > 0) this.current?.settle(undefined, failure);
    this.endPresent(failure);
  }

  kill(failure = new StepFailure('internal', 'The worker stops')): Promise<void> {
    this.fail(failure);
    this.retire();
    return this.child.kill();
  }

  private endProcess(failure: StepFailure): void {
    this.fail(failure);
    this.retire();
    this.child.terminate();
  }

  private timedOut(failure: StepFailure): void {
    if (!this.freed(this.reclaim())) this.endPresent(failure);
  }

  /** If the next step has begun, the present one is over and its end is on its way, unless the code took tickets. */
  private endPresent(failure: StepFailure): void {
    const { current } = this;
    if (this.queuedCount === 0) return this.endProcess(failure);
    this.options.clock.after(END_MS_MAX, () => {
      if (this.current === current && !this.retired) this.endProcess(failure);
    });
  }

  /** The present step has not begun: returns it to the pool. */
  private freed(present: WaitingStep | null): boolean {
    if (present === null) return false;
    this.options.onTakenBack([present]);
    this.options.onIdle(this);
    return true;
  }

  /** Fails the present step: at once or, if a queued one has begun, when the ends before it have been read. */
  private fail(failure: StepFailure): void {
    const present = this.reclaim();
    if (present !== null) this.options.onTakenBack([present]);
    else if (this.queuedCount > 0) this.doom ??= failure;
    else this.settle(undefined, failure);
  }

  /**
   * Returns the steps that have not begun to the pool, except `stopped`. Returns the present step to the caller if it
   * has not begun either.
   */
  private reclaim(stopped: WaitingStep | null = null): WaitingStep | null {
    const { present, steps } = this.queued.takeBack();
    if (present !== null) {
      this.current?.drop();
      this.current = null;
      this.watch.remove(this);
      this.sinceMs = this.options.clock.monotonicMs();
    }
    const back = steps.filter((step) => step !== stopped);
    if (back.length > 0) this.options.onTakenBack(back);
    return present;
  }

  private begin(n: number, job: RunnerJob, done: (reply: RunnerReply) => void): void {
    const step = new RunningStep(n, job, done, this.options.clock, (failure) => this.timedOut(failure));
    this.current = step;
    this.sinceMs = step.startedMs;
    this.output.begin(!job.contained);
    const { pid } = this.child;
    if (pid !== undefined) this.watch.add(this, pid, job.memoryMb);
  }

  private write(lines: string): void {
    const all = this.later + lines;
    this.later = '';
    if (all !== '') this.child.write(all);
  }

  private ready(): void {
    this.readyMs = this.options.clock.monotonicMs();
    this.options.onIdle(this);
  }

  private onLine(line: string): void {
    const { current, batch } = this;
    if (batch !== null) return this.onPlainLine(batch, line);
    if (current === null) return;
    const message = readRunnerMessage(line, current.n);
    if (message === null || current.hasEnded) return;
    if (message.t === 'end') this.onEnd(current, message);
    else if (message.t === 'print') current.print(message.from, message.chunk);
    else if (message.t === 'log' || message.t === 'progress' || message.t === 'check') current.take(message);
  }

  private onPlainLine(batch: PlainBatch, line: string): void {
    batch.take(line);
    if (!batch.hasEnded) return;
    this.batch = null;
    this.watch.remove(this);
    this.sinceMs = this.options.clock.monotonicMs();
    if (batch.replace === null) this.options.onIdle(this);
    else this.endProcess(REPLACED);
  }

  private onEnd(current: RunningStep, message: EndMessage): void {
    current.stopTimer();
    if (message.replace !== null) this.replaced = true;
    const { error, out, files, spawned, marked } = message;
    const gives = files && error === null && out !== undefined && !current.job.contained;
    // Asks the system before files are collected: a step can forge what its runner reports about child processes.
    const { workDir } = this.folder;
    const hasOthers = (gives || (spawned && !this.replaced)) && this.child.hasOthers(workDir);
    if (hasOthers) this.replaced = true;
    const end = (given: JsonValue | undefined, failure: StepFailure | null) =>
      this.output.end(marked, () => this.over(current, message, given, failure));
    if (error !== null) return end(undefined, new StepFailure(error.kind, error.message, error));
    if (!gives) return end(out, null);
    const ended = !hasOthers || this.child.endOthers(workDir);
    this.collecting = collectFiles(current.job, out, workDir, ended).then(
      (collected) => end(collected, null),
      (fault: unknown) => end(undefined, asStepFailure(fault, FILES_FAILED)),
    );
  }

  private over(step: RunningStep, end: EndMessage, out: JsonValue | undefined, failure: StepFailure | null): void {
    this.collecting = null;
    if (this.current !== step) return;
    // Files that the next step must not find could not be removed.
    if (!this.folder.isCleared() || this.queued.isWornOut) this.replaced = true;
    this.settle(out, failure, end);
    if (this.replaced) this.reclaim();
    else if (end.held) {
      this.output.skip();
      this.write(CONTINUE);
    }
    const next = this.queued.next(step.n);
    if (next !== null) {
      this.begin(next.n, next.step.job, next.isStopped ? () => {} : next.done);
      if (next.isStopped) this.timedOut(new StepFailure('internal', 'The step was stopped'));
      else if (this.queuedCount <= ROOM_AT) this.options.onRoom();
      return;
    }
    this.output.idle();
    if (this.retired || this.gone) return;
    if (this.replaced) this.endProcess(REPLACED);
    else this.options.onIdle(this);
  }

  /** Settles the present step. Plain steps need no settling: they run again elsewhere. */
  private settle(out: JsonValue | undefined, failure: StepFailure | null, spent?: StepTime): void {
    const { current, batch } = this;
    this.batch = null;
    batch?.giveBack();
    if (current === null && batch === null) return;
    this.current = null;
    this.watch.remove(this);
    current?.settle(out, failure, spent);
    this.sinceMs = this.options.clock.monotonicMs();
  }

  private async onGone(code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    this.gone = true;
    this.output.finish();
    const failure = this.doom ?? deathFailure(code, signal, this.child.stderrTail, this.job.memoryMb);
    const present = this.reclaim();
    if (present !== null) this.options.onTakenBack([present]);
    // Otherwise the step had already ended, and its files are still being collected.
    if (this.collecting === null) this.settle(undefined, failure);
    for (let begun = this.queued.next(0); begun; begun = this.queued.next(0)) begun.done(failedWith(failure));
    this.retire();
    await this.collecting;
    this.output.finish();
    this.options.onExit(this, this.child.pid, this.folder.workDir);
    this.close();
  }

  private close(): void {
    this.queued.close();
    this.folder.remove();
  }

  private retire(): void {
    if (this.retired) return;
    this.retired = true;
    this.startLimit.cancel();
    this.options.onRetired(this);
  }
}
