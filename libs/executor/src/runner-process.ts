// One warm runner: a child process in a group and a folder of its own. It has one step at a time; every way in which
// the step can end (answer, time-out, crash, cancel) settles it exactly once.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock, Timer } from '@methods/base/clock';
import type { JsonValue } from '@methods/method/json';
import { LineReader } from './line-reader.ts';
import type { CheckRecord } from './run-outcome.ts';
import { deathFailure } from './runner-death.ts';
import type { RunnerJob, RunnerReply } from './runner-job.ts';
import { type CodeMessage, type EndMessage, readRunnerMessage, type StepMessage } from './runner-protocol.ts';
import { StepFailure } from './step-failure.ts';

const RUNNER_FILE = fileURLToPath(new URL('../runner/node-runner.mjs', import.meta.url));
const LINE_BYTES_MAX = 12 * 1024 * 1024;
const KILL_AFTER_MS = 10_000;
const CLOSE_AFTER_EXIT_MS = 1000;
const STDERR_BYTES_KEPT = 4096;
const CHECKS_MAX = 1000;
const READY = '{"t":"ready"}';

export interface RunnerProcessOptions {
  readonly folder: string;
  /** PATH and LANG of the steps. */
  readonly path: string;
  readonly lang: string;
  readonly clock: Clock;
  /** Called when the process takes its first step, and whenever a step has ended and it could take another. */
  readonly onIdle: (runner: RunnerProcess) => void;
  /** Called once when it will take no more steps; the process may live on for a moment. */
  readonly onRetired: (runner: RunnerProcess) => void;
  /** Called once when the process is gone. */
  readonly onExit: (runner: RunnerProcess) => void;
}

interface CurrentStep {
  readonly n: number;
  readonly job: RunnerJob;
  readonly checks: CheckRecord[];
  readonly done: (reply: RunnerReply) => void;
  readonly timer: Timer | null;
}

export class RunnerProcess {
  /** Start of the present idle span; of the present step while it runs. */
  sinceMs: number;
  /** When it reported for its first step. */
  readyMs = 0;
  private readonly child: ChildProcess;
  private readonly pipe: Socket;
  private readonly workDir: string;
  private readonly knownSteps = new Set<string>();
  private current: CurrentStep | null = null;
  private serial = 0;
  private retired = false;
  private replaced = false;
  private starting = true;
  private gone = false;
  private stderrTail = Buffer.alloc(0);

  constructor(
    readonly key: string,
    job: RunnerJob,
    private readonly options: RunnerProcessOptions,
  ) {
    this.sinceMs = options.clock.monotonicMs();
    mkdirSync(join(options.folder, 'work'), { recursive: true, mode: 0o700 });
    mkdirSync(join(options.folder, 'code'), { mode: 0o700 });
    // The runner compares with its cwd, which has no links.
    const folder = realpathSync(options.folder);
    this.workDir = join(folder, 'work');
    const heap = `--max-old-space-size=${job.memoryMb}`;
    this.child = spawn(
      process.execPath,
      [heap, RUNNER_FILE, this.workDir, join(folder, 'code'), String(job.memoryMb)],
      {
        cwd: this.workDir,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
        env: {
          ...Object.fromEntries(job.secrets),
          PATH: options.path,
          LANG: options.lang,
          TZ: 'UTC',
          HOME: this.workDir,
          TMPDIR: this.workDir,
        },
      },
    );
    this.pipe = this.child.stdio[3] as Socket;
    this.listen();
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** True until the process has reported for its first step. */
  get isStarting(): boolean {
    return this.starting;
  }

  /** Runs one step; only when idle. `done` is called once, always. */
  run(job: RunnerJob, done: (reply: RunnerReply) => void): void {
    const n = ++this.serial;
    const timer = job.timeoutMs === null ? null : this.options.clock.after(job.timeoutMs, () => this.timeOut());
    this.current = { n, job, checks: [], done, timer };
    this.sinceMs = this.options.clock.monotonicMs();
    this.pipe.write(this.linesFor(n, job));
  }

  /** True while it has this very job. */
  has(job: RunnerJob): boolean {
    return this.current?.job === job;
  }

  /** Ends the process group: SIGTERM, and SIGKILL after 10 s. The present step, if any, fails with `failure`. */
  end(failure: StepFailure): void {
    this.settle(undefined, failure);
    this.retire();
    this.signalGroup('SIGTERM');
    const kill = this.options.clock.after(KILL_AFTER_MS, () => this.signalGroup('SIGKILL'));
    this.child.once('exit', () => kill.cancel());
  }

  /** Ends it at once. Resolves when the process is gone. */
  kill(): Promise<void> {
    this.settle(undefined, new StepFailure('internal', 'The worker stops'));
    this.retire();
    if (this.child.exitCode !== null || this.child.signalCode !== null || this.child.pid === undefined) {
      return Promise.resolve();
    }
    const gone = new Promise<void>((resolve) => this.child.once('exit', () => resolve()));
    this.signalGroup('SIGKILL');
    return gone;
  }

  private linesFor(n: number, job: RunnerJob): string {
    const { step, key, values, code, codeLine, names } = job;
    const run: StepMessage = { t: 'step', n, step, key, values };
    if (this.knownSteps.has(step)) return `${JSON.stringify(run)}\n`;
    this.knownSteps.add(step);
    const learn: CodeMessage = { t: 'code', step, code, line: codeLine, names };
    return `${JSON.stringify(learn)}\n${JSON.stringify(run)}\n`;
  }

  private listen(): void {
    const lines = new LineReader(LINE_BYTES_MAX, (line) => this.onLine(line));
    this.pipe.on('data', (chunk: Buffer) => {
      if (!lines.push(chunk)) this.end(new StepFailure('limit', 'The step sent more than a message may hold'));
    });
    // A write to a runner that is just ending: its exit tells the rest.
    this.pipe.on('error', () => {});
    this.child.stdout?.on('data', (chunk: Buffer) => this.current?.job.log().push('stdout', chunk));
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.current?.job.log().push('stderr', chunk);
      this.stderrTail = Buffer.concat([this.stderrTail, chunk]).subarray(-STDERR_BYTES_KEPT);
    });
    this.child.on('error', () => this.onGone(null, null));
    this.child.on('exit', (code, signal) => {
      // Processes that the step started would outlive it in its group, and hold the pipes open.
      this.signalGroup('SIGKILL');
      // The pipes' last bytes come before 'close'; one that left the group may keep it from ever coming.
      this.options.clock.after(CLOSE_AFTER_EXIT_MS, () => this.onGone(code, signal));
    });
    this.child.on('close', (code, signal) => this.onGone(code, signal));
  }

  private onLine(line: string): void {
    const current = this.current;
    if (current === null) {
      if (this.starting && line === READY) {
        this.starting = false;
        this.readyMs = this.options.clock.monotonicMs();
        this.options.onIdle(this);
      }
      return;
    }
    const message = readRunnerMessage(line, current.n);
    if (message === null) return;
    if (message.t === 'log') {
      current.job.log().push('log', Buffer.from(message.text));
    } else if (message.t === 'end') {
      this.onEnd(current, message);
    } else if (current.checks.length < CHECKS_MAX) {
      const status = message.ok ? 'passed' : message.level === 'warn' ? 'warned' : 'failed';
      const { name, message: text, actual } = message;
      current.checks.push({ name, phase: 'code', status, message: text, actual });
    }
  }

  private onEnd(current: CurrentStep, message: EndMessage): void {
    current.timer?.cancel();
    if (message.replace !== null) this.replaced = true;
    const { error, out, ms } = message;
    if (error !== null) {
      this.afterOutput(current, undefined, new StepFailure(error.kind, error.message, error), ms);
    } else if (message.files && out !== undefined) {
      current.job.collectFiles(out, this.workDir).then(
        (collected) => this.afterOutput(current, collected, null, ms),
        (fault: unknown) => this.afterOutput(current, undefined, fileFailure(fault), ms),
      );
    } else {
      this.afterOutput(current, out, null, ms);
    }
  }

  /** The step's prints come on other pipes; they were written before its end and are read by the end of this turn. */
  private afterOutput(current: CurrentStep, out: JsonValue | undefined, failure: StepFailure | null, ms: number): void {
    setImmediate(() => {
      if (this.current !== current) return;
      this.settle(out, failure, ms);
      if (this.replaced) this.end(new StepFailure('internal', 'The runner was replaced'));
      else this.options.onIdle(this);
    });
  }

  private settle(out: JsonValue | undefined, failure: StepFailure | null, ms?: number): void {
    const current = this.current;
    if (current === null) return;
    const nowMs = this.options.clock.monotonicMs();
    this.current = null;
    current.timer?.cancel();
    current.done({ out, failure, checks: current.checks, ms: ms ?? nowMs - this.sinceMs });
    this.sinceMs = nowMs;
  }

  private timeOut(): void {
    const text = this.current?.job.timeoutText ?? '';
    this.end(new StepFailure('timeout', `No end within ${text}`));
  }

  private onGone(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.gone) return;
    this.gone = true;
    this.settle(undefined, deathFailure(code, signal, this.stderrTail.toString()));
    this.retire();
    this.options.onExit(this);
    rm(this.options.folder, { recursive: true, force: true }).catch(() => {});
  }

  private retire(): void {
    if (this.retired) return;
    this.retired = true;
    this.options.onRetired(this);
  }

  private signalGroup(signal: NodeJS.Signals): void {
    if (this.child.pid === undefined) return;
    try {
      process.kill(-this.child.pid, signal);
    } catch {
      // No process of the group is left.
    }
  }
}

function fileFailure(fault: unknown): StepFailure {
  if (fault instanceof StepFailure) return fault;
  return new StepFailure('internal', 'The files of the step could not be taken over');
}
