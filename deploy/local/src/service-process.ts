// One of our own processes in the stack: started with its environment and its log in its folder, and restarted with
// growing waits when it dies.
import { join } from 'node:path';
import { Backoff } from '@methods/base/backoff';
import { systemClock } from '@methods/base/clock';
import { compileCacheOf, nodeArguments } from '@methods/built-code/node-arguments';
import { type ServerProcess, startServerProcess } from './embedded/server-process.ts';

/** The space for young objects grows under load. With the default of 16 MiB, collecting it costs up to 18 % of the CPU. */
const YOUNG_SPACE = '--max-semi-space-size=64';
/** A run-scheduler gains nothing from more, and with a backlog of a million runs needs a fifth less memory. */
const SCHEDULER_YOUNG_SPACE = '--max-semi-space-size=32';
/**
 * A gateway keeps little and throws much away: its heap may grow to twice what is in use before it is collected, where
 * by default it grows to four times that.
 */
const GATEWAY_HEAP = '--heap-growing-percent=100';
/** For measurements: more arguments for node, separated by spaces. */
const MORE_ARGS = (process.env.STACK_NODE_ARGS ?? '').split(' ').filter((argument) => argument !== '');
const STOP_GRACE_MS = 20_000;
/** A process that ran this long has started well: the next death begins the waits again. */
const WELL_MS = 10_000;

export interface ServiceOptions {
  readonly name: string;
  /** Its main file. */
  readonly code: URL;
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Called when it runs again; it has another pid now. */
  readonly onRestart: (name: string) => void;
}

export class ServiceProcess {
  private readonly backoff = new Backoff({ firstMs: 100, maxMs: 5_000 });
  private process: ServerProcess | null = null;
  private stopping = false;
  private ends = 0;

  constructor(private readonly options: ServiceOptions) {}

  get name(): string {
    return this.options.name;
  }

  get pid(): number {
    return this.process?.pid ?? 0;
  }

  get logFile(): string {
    return join(this.options.folder, 'log');
  }

  logTail(): string {
    return this.process?.logTail() ?? '';
  }

  /** How often it ended by itself. */
  get ended(): number {
    return this.ends;
  }

  get running(): boolean {
    return this.process?.running ?? false;
  }

  async start(): Promise<void> {
    const { name, code, env, folder } = this.options;
    const startedMs = performance.now();
    const process_ = await startServerProcess({
      name,
      command: process.execPath,
      args: [...heapOf(name), ...MORE_ARGS, ...nodeArguments(code), `--stack=${folder}`],
      logFile: this.logFile,
      marker: `--stack=${folder}`,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '/',
        NODE_ENV: 'production',
        ...compileCacheOf(code),
        ...env,
      },
    });
    this.process = process_;
    void process_.exited.then(() => {
      if (this.stopping) return;
      this.ends++;
      if (performance.now() - startedMs > WELL_MS) this.backoff.reset();
      systemClock.after(this.backoff.nextMs(), () => this.restart());
    });
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.process?.stop('SIGTERM', STOP_GRACE_MS);
  }

  private restart(): void {
    if (this.stopping) return;
    this.start().then(
      () => this.options.onRestart(this.options.name),
      () => systemClock.after(this.backoff.nextMs(), () => this.restart()),
    );
  }
}

function heapOf(name: string): string[] {
  if (name.startsWith('gateway')) return [YOUNG_SPACE, GATEWAY_HEAP];
  return [name.startsWith('run-scheduler') ? SCHEDULER_YOUNG_SPACE : YOUNG_SPACE];
}
