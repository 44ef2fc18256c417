// A runner, warm or not, as the pool sees it.
import type { Clock } from '@methods/base/clock';
import type { Isolation } from '../isolation.ts';
import { StepFailure } from '../step-failure.ts';
import { memoryFailure } from './process-watch.ts';
import type { RunnerJob, RunnerReply, WaitingStep } from './runner-job.ts';

export interface Runner {
  /** Start of the present idle span or, while a step runs, of that step. */
  readonly sinceMs: number;
  /** When it became ready for its first step. */
  readonly readyMs: number;
  /** True until it is ready for its first step. */
  readonly isStarting: boolean;
  /** True while its process has a processor or waits for one. */
  readonly isComputing: boolean;
  /** Itself, where it takes one step after another; null: its process is for one step. */
  readonly warm: WarmRunner | null;
  /** Runs one step; allowed only when idle. Calls `done` exactly once. */
  run(job: RunnerJob, done: (reply: RunnerReply) => void): void;
  /** True while it runs exactly this job. */
  has(job: RunnerJob): boolean;
  /** Ends the process group: SIGTERM, and SIGKILL after 10 s. A present step fails with `failure`. */
  end(failure: StepFailure): void;
  /** Ends it at once; the present step fails with `failure`. Resolves when the process is gone. */
  kill(failure?: StepFailure): Promise<void>;
}

export interface WarmRunner extends Runner {
  /** Runs plain steps one after the other; allowed only when idle, and only for node. */
  runPlain(steps: readonly WaitingStep[]): void;
  /** Removes the job's step from the present batch of plain steps. Null: it is not part of it. */
  removePlain(job: RunnerJob): WaitingStep | null;
  /** The steps queued behind the present one. */
  readonly queuedCount: number;
  /** True if one more step may be queued and the present one has run for less than `longMs`. */
  takesQueued(nowMs: number, longMs: number): boolean;
  /** The step begins when those before it have ended, unless it is taken back. False: it cannot be queued here. */
  queue(step: WaitingStep, done: (reply: RunnerReply) => void): boolean;
  /** Returns the steps that have not begun to the pool. */
  takeBack(): void;
  /** Fails the job's queued step; if it has begun, ends the process as well. False: it is not queued here. */
  stopQueued(job: RunnerJob, failure: StepFailure): boolean;
}

export interface RunnerOptions {
  /** The exchange folder is created here, and removed when the process is gone. */
  readonly folder: string;
  /** PATH and LANG of the steps. */
  readonly path: string;
  readonly lang: string;
  readonly isolation: Isolation;
  readonly clock: Clock;
  /** Called when it is ready for its first step, and whenever a step has ended and it is ready for another. */
  readonly onIdle: (runner: Runner) => void;
  /** There is room for more queued steps. */
  readonly onRoom: () => void;
  /** Queued steps that have not begun. */
  readonly onTakenBack: (steps: readonly WaitingStep[]) => void;
  /** Plain steps that `failed` or were interrupted: each runs again as other steps do. */
  readonly onReturned: (steps: readonly WaitingStep[], failed: boolean) => void;
  /** Called with the process's id as soon as it is known. */
  readonly onSpawned: (pid: number) => void;
  /** Called once when it accepts no more steps; the process may live for another moment. */
  readonly onRetired: (runner: Runner) => void;
  /** Called once when the process is gone; `workDir` is about to be removed. */
  readonly onExit: (runner: Runner, pid: number | undefined, workDir: string) => void;
}

// Explains a process's end: why did it exit while a step ran in it?

/** `stderr`: the end of the process's output; the engine reports a full heap there. */
export function deathFailure(
  code: number | null,
  signal: NodeJS.Signals | null,
  stderr: string,
  memoryMb: number,
): StepFailure {
  if (/heap out of memory|Array buffer allocation failed|Zone/.test(stderr) && (signal === 'SIGABRT' || code === 134)) {
    return memoryFailure(memoryMb);
  }
  if (signal === 'SIGKILL') return new StepFailure('memory', 'The process was killed, most likely for lack of memory');
  if (signal !== null) return new StepFailure('exit', `The process ended by ${signal}`);
  if (code === null) return new StepFailure('internal', 'The process could not be started');
  return new StepFailure('exit', `The step ended its process with exit code ${code}`, { code });
}
