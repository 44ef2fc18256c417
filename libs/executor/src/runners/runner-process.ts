// One warm runner of node or python steps: a process that takes a step after another. Every way in which a step can
// end (answer, time-out, crash, cancel) settles it exactly once.
import type { Timer } from '@methods/base/clock';
import type { JsonValue } from '@methods/method/json';
import { StepFailure } from '../step-failure.ts';
import { ChildGroup } from './child-group.ts';
import { ExchangeFolder } from './exchange-folder.ts';
import { PlainBatch } from './plain-batch.ts';
import type { ProcessWatch } from './process-watch.ts';
import type { Runner, RunnerOptions } from './runner.ts';
import { deathFailure } from './runner-death.ts';
import type { RunnerJob, RunnerReply, WaitingStep } from './runner-job.ts';
import { launchOf, stepUserOf } from './runner-launch.ts';
import {
  type CodeMessage,
  type EndMessage,
  type LibMessage,
  readRunnerMessage,
  type StepMessage,
} from './runner-protocol.ts';
import { asStepFailure, FILES_FAILED, PROCESSES_STAY, RunningStep } from './running-step.ts';

const READY = '{"t":"ready"}';
/** A process that hangs before its first step would keep steps waiting that have no deadline yet. */
const START_MS_MAX = 30_000;

export class RunnerProcess implements Runner {
  sinceMs: number;
  readyMs = 0;
  private readonly folder: ExchangeFolder;
  private readonly child: ChildGroup;
  /** Steps whose code was sent, and whether it reads its values from a file. */
  private readonly knownSteps = new Map<string, boolean>();
  private readonly knownPlainSteps = new Set<string>();
  private current: RunningStep | null = null;
  private batch: PlainBatch | null = null;
  private serial = 0;
  private retired = false;
  private replaced = false;
  /** The files of a step are being taken; until then its folder stays. */
  private collecting: Promise<void> | null = null;
  private starting = true;
  private readonly startLimit: Timer;

  constructor(
    private readonly job: RunnerJob,
    private readonly options: RunnerOptions,
    private readonly watch: ProcessWatch,
  ) {
    this.sinceMs = options.clock.monotonicMs();
    this.folder = new ExchangeFolder(options.folder, job.environment.nodePath, stepUserOf(options));
    this.child = new ChildGroup(launchOf(job, this.folder, options), options.clock, {
      onLine: (line) => this.onLine(line),
      onOverflow: () => this.end(new StepFailure('limit', 'The step sent more than a message may hold')),
      onPrint: (source, chunk) => this.current?.print(source, chunk),
      onGone: (code, signal) => void this.onGone(code, signal),
    });
    if (this.child.pid !== undefined) options.onSpawned(this.child.pid);
    this.startLimit = options.clock.after(START_MS_MAX, () => void this.kill());
  }

  get isStarting(): boolean {
    return this.starting;
  }

  run(job: RunnerJob, done: (reply: RunnerReply) => void): void {
    const step = new RunningStep(++this.serial, job, done, this.options.clock, (failure) => this.end(failure));
    this.current = step;
    this.sinceMs = step.startedMs;
    let lines: string;
    try {
      lines = this.linesFor(step.n, job);
    } catch {
      this.settle(undefined, new StepFailure('internal', 'The files of the step could not be given to it'));
      this.options.onIdle(this);
      return;
    }
    const { pid } = this.child;
    if (pid !== undefined) this.watch.add(this, pid, job.memoryMb);
    this.child.write(lines);
  }

  runPlain(steps: readonly WaitingStep[]): void {
    const batch = new PlainBatch(this.serial + 1, steps, this.options.clock, {
      onReturned: this.options.onReturned,
      onStuck: () => void this.kill(),
    });
    this.serial += steps.length;
    this.batch = batch;
    this.sinceMs = this.options.clock.monotonicMs();
    const { pid } = this.child;
    if (pid !== undefined) this.watch.add(this, pid, this.job.memoryMb);
    this.child.write(batch.lines(this.knownPlainSteps));
  }

  has(job: RunnerJob): boolean {
    return this.current?.job === job;
  }

  removePlain(job: RunnerJob): WaitingStep | null {
    return this.batch?.remove(job) ?? null;
  }

  end(failure: StepFailure): void {
    this.settle(undefined, failure);
    this.retire();
    this.child.terminate();
  }

  kill(failure = new StepFailure('internal', 'The worker stops')): Promise<void> {
    this.settle(undefined, failure);
    this.retire();
    return this.child.kill();
  }

  private linesFor(n: number, job: RunnerJob): string {
    const { step, key, code, codeLine, names, tryNumber } = job;
    const { isolation } = this.options;
    const values = isolation.level === 'sandbox' ? this.folder.withFiles(job.values, job.files).values : job.values;
    const run: StepMessage = { t: 'step', n, step, key, try: tryNumber, values };
    // The values as a file are for code that reads it; most does not, and a file costs as much as a short step.
    const known = this.knownSteps.get(step);
    const reads = known ?? (code.includes('STEP_IN') || job.lib?.code.includes('STEP_IN') === true);
    const told: StepMessage = reads ? { ...run, in: this.folder.writeValues(names, values) } : run;
    if (known !== undefined) return `${JSON.stringify(told)}\n`;
    const messages: (LibMessage | CodeMessage | StepMessage)[] = [];
    if (this.knownSteps.size === 0 && job.lib !== null)
      messages.push({ t: 'lib', code: job.lib.code, line: job.lib.line });
    this.knownSteps.set(step, reads);
    messages.push({ t: 'code', step, code, line: codeLine, names }, told);
    return messages.map((message) => `${JSON.stringify(message)}\n`).join('');
  }

  private onLine(line: string): void {
    const { current, batch } = this;
    if (batch !== null) return this.onPlainLine(batch, line);
    if (current === null) {
      if (this.starting && line === READY) {
        this.starting = false;
        this.child.ready();
        this.startLimit.cancel();
        this.readyMs = this.options.clock.monotonicMs();
        this.options.onIdle(this);
      }
      return;
    }
    const message = readRunnerMessage(line, current.n);
    if (message === null) return;
    if (message.t === 'end') this.onEnd(current, message);
    else if (message.t === 'log' || message.t === 'progress' || message.t === 'check') current.take(message);
  }

  private onPlainLine(batch: PlainBatch, line: string): void {
    batch.take(line);
    if (!batch.hasEnded) return;
    this.batch = null;
    this.watch.remove(this);
    this.sinceMs = this.options.clock.monotonicMs();
    if (batch.replace === null) this.options.onIdle(this);
    else this.end(new StepFailure('internal', 'The runner was replaced'));
  }

  private onEnd(current: RunningStep, message: EndMessage): void {
    current.stopTimer();
    if (message.replace !== null) this.replaced = true;
    const { error, out, ms } = message;
    if (message.spawned && !this.replaced) this.replaced = this.child.hasOthers(this.folder.workDir);
    if (error !== null) {
      this.afterOutput(current, undefined, new StepFailure(error.kind, error.message, error), ms);
    } else if (message.files && out !== undefined) {
      this.collecting = this.collect(current.job, out).then(
        (collected) => this.afterOutput(current, collected, null, ms),
        (fault: unknown) => this.afterOutput(current, undefined, asStepFailure(fault, FILES_FAILED), ms),
      );
    } else {
      this.afterOutput(current, out, null, ms);
    }
  }

  /** What the runner says of its children is the step's to forge: before files are taken, the system is asked. */
  private async collect(job: RunnerJob, out: JsonValue): Promise<JsonValue> {
    const { workDir } = this.folder;
    if (this.child.hasOthers(workDir)) {
      this.replaced = true;
      if (!(await this.child.endOthers(workDir))) throw new StepFailure('internal', PROCESSES_STAY);
    }
    return job.collectFiles(out, workDir);
  }

  /** The step's prints come on other pipes; they were written before its end and are read by the end of this turn. */
  private afterOutput(step: RunningStep, out: JsonValue | undefined, failure: StepFailure | null, ms: number): void {
    setImmediate(() => {
      this.collecting = null;
      if (this.current !== step) return;
      // What the next step must not find cannot be cleared: it gets another runner.
      if (!this.folder.isCleared()) this.replaced = true;
      this.settle(out, failure, ms);
      // It ended while its files were taken.
      if (this.retired) return;
      if (this.replaced) this.end(new StepFailure('internal', 'The runner was replaced'));
      else this.options.onIdle(this);
    });
  }

  /** Of plain steps there is nothing to settle: they run again elsewhere. */
  private settle(out: JsonValue | undefined, failure: StepFailure | null, ms?: number): void {
    const { current, batch } = this;
    this.batch = null;
    batch?.giveBack();
    if (current === null && batch === null) return;
    this.current = null;
    this.watch.remove(this);
    current?.settle(out, failure, ms);
    this.sinceMs = this.options.clock.monotonicMs();
  }

  private async onGone(code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    // The step had ended before, and its files are still taken.
    if (this.collecting === null) {
      this.settle(undefined, deathFailure(code, signal, this.child.stderrTail, this.job.memoryMb));
    }
    this.retire();
    await this.collecting;
    this.options.onExit(this, this.child.pid, this.folder.workDir);
    this.folder.remove();
  }

  private retire(): void {
    if (this.retired) return;
    this.retired = true;
    this.startLimit.cancel();
    this.options.onRetired(this);
  }
}
