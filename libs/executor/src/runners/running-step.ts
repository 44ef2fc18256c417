// The present step of a runner: collects its messages and prints, and settles exactly once.
import type { Clock, Timer } from '@methods/base/clock';
import type { JsonValue } from '@methods/method/json';
import type { CheckRecord } from '../run-outcome.ts';
import { logLine, type StepEvent } from '../step-event.ts';
import { StepFailure } from '../step-failure.ts';
import type { RunnerJob, RunnerReply } from './runner-job.ts';

const CHECKS_MAX = 1000;

/** As the runner measured it. */
export type StepTime = Pick<RunnerReply, 'ms' | 'wantedMs'>;

export class RunningStep {
  readonly startedMs: number;
  private readonly checks: CheckRecord[] = [];
  private readonly timer: Timer | null;
  private readonly printed: Buffer[] = [];
  private printedBytes = 0;
  private settled = false;
  /** The end of its code is here; its prints or its files may not be. */
  hasEnded = false;

  /** Calls `onTimeout` at the job's deadline, unless the step has settled. */
  constructor(
    readonly n: number,
    readonly job: RunnerJob,
    private readonly done: (reply: RunnerReply) => void,
    private readonly clock: Clock,
    onTimeout: (failure: StepFailure) => void,
  ) {
    this.startedMs = clock.monotonicMs();
    this.timer =
      job.timeoutMs === null
        ? null
        : clock.after(job.timeoutMs, () => onTimeout(new StepFailure('timeout', `No end within ${job.timeoutText}`)));
  }

  take(event: StepEvent): void {
    if (this.settled) return;
    if (event.t !== 'check') {
      this.job.log().push(event.t, Buffer.from(logLine(event)));
    } else if (this.checks.length < CHECKS_MAX) {
      const status = event.ok ? 'passed' : event.level === 'warn' ? 'warned' : 'failed';
      const { name, message, actual } = event;
      this.checks.push({ name, phase: 'code', status, message, actual });
    }
    this.job.told?.(event);
  }

  print(source: 'stdout' | 'stderr', chunk: Buffer): void {
    const { stdoutBytesMax } = this.job;
    if (source === 'stdout' && stdoutBytesMax !== null && this.printedBytes <= stdoutBytesMax) {
      this.printed.push(chunk);
      this.printedBytes += chunk.length;
    }
    this.job.log().push(source, chunk);
  }

  /** The code has ended; the rest is our own work and has no deadline. */
  stopTimer(): void {
    this.hasEnded = true;
    this.timer?.cancel();
  }

  /** The step has not begun, and begins elsewhere. */
  drop(): void {
    this.settled = true;
    this.timer?.cancel();
  }

  settle(out: JsonValue | undefined, failure: StepFailure | null, spent?: StepTime): void {
    if (this.settled) return;
    this.settled = true;
    this.timer?.cancel();
    this.done({
      out,
      failure,
      checks: this.checks,
      stdout: this.job.stdoutBytesMax === null ? null : Buffer.concat(this.printed),
      ms: spent?.ms ?? this.clock.monotonicMs() - this.startedMs,
      ...(spent?.wantedMs !== undefined && { wantedMs: spent.wantedMs }),
    });
  }
}

/**
 * A fault around the step's own code. A fault that is not part of the language could hold content, so only `message` is
 * reported.
 */
export function asStepFailure(fault: unknown, message: string): StepFailure {
  return fault instanceof StepFailure ? fault : new StepFailure('internal', message);
}

export function failedWith(failure: StepFailure): RunnerReply {
  return { out: undefined, failure, checks: [], stdout: null, ms: 0 };
}

export const FILES_FAILED = 'The files of the step could not be collected';

const PROCESSES_STAY = 'The processes of the step could not be ended, and its files were not collected';

/** `ended`: whether the processes of the step that stayed are gone. */
export async function collectFiles(
  job: RunnerJob,
  out: JsonValue,
  workDir: string,
  ended: Promise<boolean> | true,
): Promise<JsonValue> {
  if (!(await ended)) throw new StepFailure('internal', PROCESSES_STAY);
  return job.collectFiles(out, workDir);
}
