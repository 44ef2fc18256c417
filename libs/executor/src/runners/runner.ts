// What the pool knows of a runner, warm or not.
import type { Clock } from '@methods/base/clock';
import type { Isolation } from '../isolation.ts';
import type { StepFailure } from '../step-failure.ts';
import type { RunnerJob, RunnerReply, WaitingStep } from './runner-job.ts';

export interface Runner {
  /** Start of the present idle span; of the present step while it runs. */
  readonly sinceMs: number;
  /** When it could take its first step. */
  readonly readyMs: number;
  /** True until it has reported for its first step. */
  readonly isStarting: boolean;
  /** Runs one step; only when idle. `done` is called once, always. */
  run(job: RunnerJob, done: (reply: RunnerReply) => void): void;
  /** Runs plain steps one after the other; only when idle, and only of node. */
  runPlain(steps: readonly WaitingStep[]): void;
  /** True while it has this very job. */
  has(job: RunnerJob): boolean;
  /** Steps that wait in line behind the present one. */
  readonly queuedCount: number;
  /** True where one more contained step may wait in line, and the present one runs for less than `longMs`. */
  takesQueued(nowMs: number, longMs: number): boolean;
  /** Begins when those before it have ended, unless it is taken back. False: it cannot wait here. */
  queue(step: WaitingStep, done: (reply: RunnerReply) => void): boolean;
  /** Returns what has not begun to the pool. */
  takeBack(): void;
  /** The job's step in line fails; where it has begun, the process ends with it. False: it does not wait here. */
  stopQueued(job: RunnerJob, failure: StepFailure): boolean;
  /** Takes the job's step out of the plain ones it has together; null: it is not one of them. */
  removePlain(job: RunnerJob): WaitingStep | null;
  /** Ends its process group: SIGTERM, and SIGKILL after 10 s. The present step, if any, fails with `failure`. */
  end(failure: StepFailure): void;
  /** Ends it at once; the present step fails with `failure`. Resolves when the process is gone. */
  kill(failure?: StepFailure): Promise<void>;
}

export interface RunnerOptions {
  /** Exchange folder; made here, removed when the process is gone. */
  readonly folder: string;
  /** PATH and LANG of the steps. */
  readonly path: string;
  readonly lang: string;
  readonly isolation: Isolation;
  readonly clock: Clock;
  /** Called when it can take its first step, and whenever a step has ended and it could take another. */
  readonly onIdle: (runner: Runner) => void;
  /** There is room for more steps in line. */
  readonly onRoom: () => void;
  /** Steps that waited in line and have not begun. */
  readonly onTakenBack: (steps: readonly WaitingStep[]) => void;
  /** Plain steps that `failed` or were interrupted: each of them runs again as any other step. */
  readonly onReturned: (steps: readonly WaitingStep[], failed: boolean) => void;
  /** Called with the process's id as soon as there is one. */
  readonly onSpawned: (pid: number) => void;
  /** Called once when it will take no more steps; the process may live on for a moment. */
  readonly onRetired: (runner: Runner) => void;
  /** Called once when the process is gone; `workDir` is about to be removed. */
  readonly onExit: (runner: Runner, pid: number | undefined, workDir: string) => void;
}
