// One thread that runs jobs one at a time, seen from outside: bounds on a job's processor time, waiting time and
// memory, each of which ends only the thread and its job.
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '@methods/base/clock';
import { importOf } from '@methods/built-code/node-arguments';
import type { ThreadMessage } from './thread-body.ts';

export interface JobLimits {
  /** Processor time of one job; what the first look at a job, after 250 ms, does not see comes on top. */
  readonly cpuMsMax: number;
  /** Wall time of one job. */
  readonly wallMsMax: number;
  readonly heapMibMax: number;
}

/**
 * `too_long`, `too_much_memory`: the job asks for more than it may have. `too_slow`: its time is up, though it got little
 * of a busy machine's processor. `broke_down`: it threw, or its thread cannot be started.
 */
export type JobFault = 'too_long' | 'too_much_memory' | 'too_slow' | 'broke_down';

export class JobFailed extends Error {
  override readonly name = 'JobFailed';

  /** `what`: class and place of the error, without content. */
  constructor(
    readonly fault: JobFault,
    what = '',
  ) {
    super(what === '' ? `the job ended: ${fault}` : `the job ended: ${fault}: ${what}`);
  }
}

interface Running {
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: JobFailed) => void;
  begunMs: number;
  cpuMsAtFirst: number | null;
  /** At the first look. */
  cpuMsBefore: number | null;
  timer: Timer;
}

const LOOK_MS = 250;
/** To start, on a busy machine. */
const START_MS_MAX = 30_000;
/** It keeps 16 MiB and takes 160 ms of a processor to start: too much for a job a minute, too little for each job. */
const IDLE_MS_MAX = 300_000;
const YOUNG_MIB = 16;
const STACK_MIB = 4;
/**
 * An event loop has priority over a job, since a job delays one caller and an event loop all of them. Half an event
 * loop's share of the processor, not less: on a busy machine a job with a tenth of it does not end before its caller
 * gives up.
 */
const NICE = 3;
const LOWER_PRIORITY = `try {
  const [, , thread] = require('node:fs').readlinkSync('/proc/thread-self').split('/');
  const { getPriority, setPriority } = require('node:os');
  setPriority(Number(thread), Math.min(19, getPriority() + ${NICE}));
} catch {
  // This kernel does not say which thread it is.
}`;

export class JobThread {
  private readonly worker: Worker;
  private running: Running | null = null;
  private idle: Timer | null = null;
  private taskPath: string | null = null;
  private isReady = false;
  private ended = false;
  private usedMs = 0;

  /** `onEnd`: it accepts no more jobs. */
  constructor(
    private readonly options: {
      readonly body: URL;
      readonly limits: JobLimits;
      readonly clock: Clock;
      readonly onEnd: () => void;
    },
  ) {
    // Its start is not a caller's doing.
    const boot = `${importOf(options.body)}.then(() => { ${LOWER_PRIORITY} });`;
    this.worker = new Worker(boot, {
      eval: true,
      // Not the environment's secrets.
      env: {},
      resourceLimits: {
        maxOldGenerationSizeMb: options.limits.heapMibMax,
        maxYoungGenerationSizeMb: YOUNG_MIB,
        stackSizeMb: STACK_MIB,
      },
    });
    this.worker.unref();
    this.worker.on('message', (message: ThreadMessage) => this.onMessage(message));
    this.worker.on('error', (error: Error & { code?: string }) => {
      this.end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'too_much_memory' : 'broke_down', error.name);
    });
    this.worker.on('exit', () => this.end('broke_down', 'the thread ended'));
  }

  get isFree(): boolean {
    return !this.ended && this.running === null;
  }

  /** Processor time of the last job that ended; without its thread's start, and 0 where the kernel does not say. */
  get lastCpuMs(): number {
    return this.usedMs;
  }

  /** Only while it is free. @throws JobFailed, after which the thread has ended unless the job threw. */
  run(job: unknown): Promise<unknown> {
    const { clock } = this.options;
    this.idle?.cancel();
    return new Promise((resolve, reject) => {
      const timer = clock.after(LOOK_MS, () => this.look());
      const cpuMsAtFirst = this.isReady ? this.cpuMs() : null;
      this.running = { resolve, reject, begunMs: clock.monotonicMs(), cpuMsAtFirst, cpuMsBefore: null, timer };
      this.worker.postMessage(job);
    });
  }

  /** Ends its job as well. */
  async terminate(): Promise<void> {
    this.end('broke_down', 'the pool stops');
    await this.worker.terminate();
  }

  private onMessage(message: ThreadMessage): void {
    if (message.kind === 'ready') {
      this.isReady = true;
      this.taskPath = message.taskPath;
      if (this.running !== null) {
        this.running.begunMs = this.options.clock.monotonicMs();
        this.running.cpuMsAtFirst = this.cpuMs();
      }
      return;
    }
    const running = this.settled();
    if (running === null) return;
    if (message.kind === 'done') running.resolve(message.reply);
    else running.reject(new JobFailed('broke_down', message.what));
  }

  private look(): void {
    const { running } = this;
    if (running === null) return;
    const { limits, clock } = this.options;
    const tookMs = clock.monotonicMs() - running.begunMs;
    // Its usage while it starts is not the job's.
    if (!this.isReady) {
      if (tookMs > START_MS_MAX) return this.end('too_slow');
    } else {
      const cpuMs = this.cpuMs();
      running.cpuMsBefore ??= cpuMs;
      if (cpuMs !== null && running.cpuMsBefore !== null && cpuMs - running.cpuMsBefore > limits.cpuMsMax) {
        return this.end('too_long');
      }
      if (tookMs > limits.wallMsMax) return this.end(cpuMs === null ? 'too_long' : 'too_slow');
    }
    running.timer = clock.after(LOOK_MS, () => this.look());
  }

  /** Null: this kernel does not say. */
  private cpuMs(): number | null {
    if (this.taskPath === null) return null;
    try {
      const [onCpuNs] = readFileSync(`/proc/${this.taskPath}/schedstat`, 'latin1').split(' ');
      return Number(onCpuNs) / 1e6;
    } catch {
      return null;
    }
  }

  private settled(): Running | null {
    const { running } = this;
    if (running === null) return null;
    this.running = null;
    running.timer.cancel();
    const { cpuMsAtFirst } = running;
    this.usedMs = cpuMsAtFirst === null ? 0 : Math.max(0, (this.cpuMs() ?? 0) - cpuMsAtFirst);
    if (!this.ended) this.idle = this.options.clock.after(IDLE_MS_MAX, () => this.end('broke_down', 'no job came'));
    return running;
  }

  private end(fault: JobFault, what = ''): void {
    const wasEnded = this.ended;
    this.ended = true;
    this.idle?.cancel();
    this.settled()?.reject(new JobFailed(fault, what));
    if (wasEnded) return;
    void this.worker.terminate();
    this.options.onEnd();
  }
}
